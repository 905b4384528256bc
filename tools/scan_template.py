"""Scan the template with Checkov, and compare what it finds with the exceptions.

The scan reads what SAM makes of the template: also the roles, stages and deployment groups that the
template only implies. A resource with a known violation is added to each scan, which proves that
violations are found.

Checkov runs in an environment of its own (`.local/checkov`), because it pins many packages. It does
not call its platform, and does not look for a newer version.
"""

import json
import logging
import os
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tools.expanded_template import expanded

ROOT = Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "tools" / "checkov" / "exceptions.toml"

type Failure = tuple[str, str]
"""Id of a check and the resource that does not pass it, as `TYPE.NAME`."""

SCANNED = ROOT / ".local" / "checkov" / "template.json"

PLANTED: Failure = ("CKV_AWS_20", "AWS::S3::Bucket.PlantedViolation")
"""What Checkov has to find: a bucket that everybody may read."""
_PLANTED_RESOURCES: Mapping[str, Mapping[str, Any]] = {
    "PlantedViolation": {
        "Type": "AWS::S3::Bucket",
        "Properties": {"AccessControl": "PublicRead"},
    }
}


def failures() -> dict[Failure, str]:
    """Return the failures that Checkov finds, with what each check asks for.

    Raises:
        SystemExit: Checkov did not scan the template, or did not find the planted violation.
    """
    resources = expanded(DeploymentStrategy="Canary10Percent5Minutes")
    scanned = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {**resources, **_PLANTED_RESOURCES},
    }
    SCANNED.write_text(json.dumps(scanned), encoding="utf-8")
    done = subprocess.run(
        [
            *(str(ROOT / ".local/checkov/bin/checkov"), "--file", str(SCANNED)),
            *("--framework", "cloudformation", "--skip-download", "--quiet", "--output", "json"),
        ],
        cwd=ROOT,
        env=os.environ | {"CKV_SKIP_PACKAGE_UPDATE_CHECK": "true"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    report: dict[str, Any] = json.loads(done.stdout or "{}")
    if not report.get("summary", {}).get("resource_count") or report["summary"]["parsing_errors"]:
        sys.exit(f"Checkov did not scan the template (exit code {done.returncode}).")
    return without_planted(
        {
            (found["check_id"], found["resource"]): found["check_name"]
            for found in report["results"]["failed_checks"]
        }
    )


def without_planted(found: Mapping[Failure, str]) -> dict[Failure, str]:
    """Return the failures of the template itself.

    Raises:
        SystemExit: The planted violation is not among them.
    """
    if PLANTED not in found:
        sys.exit(f"Checkov did not find the planted violation {PLANTED[0]}: it finds nothing.")
    return {one: name for one, name in found.items() if one[1] != PLANTED[1]}


def problems(found: Collection[Failure], exceptions: Mapping[str, Any]) -> Iterator[str]:
    """Yield the failures without an exception, and the exceptions without a reason or a failure."""
    for check, resource in sorted(found):
        patterns = exceptions.get(check, {}).get("resources", ())
        if not any(fnmatchcase(resource, pattern) for pattern in patterns):
            yield f"{check}: {resource} does not pass the check"
    for check, exception in exceptions.items():
        if not exception.get("reason"):
            yield f"{check}: the exception has no reason"
        for pattern in exception["resources"]:
            if not any(one == check and fnmatchcase(name, pattern) for one, name in found):
                yield f"{check}: no exception is needed for {pattern}; remove it"


def main() -> None:
    """Print the problems; exit with 1 if there are any."""
    logging.getLogger("samtranslator.feature_toggle").setLevel(logging.CRITICAL)  # reports nothing
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")  # SAM resolves it, and calls nothing
    found = failures()
    exceptions = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))
    names = {check: name for (check, _), name in found.items()}
    wrong = list(problems(found, exceptions))
    for problem in wrong:
        check = problem.partition(":")[0]
        print(f"{problem} ({names.get(check, 'passed by all')})", file=sys.stderr)
    if wrong:
        sys.exit(f"Change the template, or {EXCEPTIONS.relative_to(ROOT)}.")
    print(f"Checkov: {len(found)} failures of {len(exceptions)} checks, each with a reason.")


if __name__ == "__main__":
    main()
