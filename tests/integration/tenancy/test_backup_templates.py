"""The templates of the backups in another account: who may do what, and what is backed up."""

import re
from typing import Any

import pytest
from samcli.yamlhelper import yaml_parse

from operations import tenant_tables
from shared.kernel import aws
from shared.kernel.config import config
from tests.integration.control_plane import deployed
from tests.template import PATH, Template

ROOT = PATH.parent


def _template(name: str) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml_parse((ROOT / "deployment" / name).read_text(encoding="utf-8"))
    return parsed


VAULT, PLAN = _template("backup-vault.yaml"), _template("backup-plan.yaml")
SOURCE = {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${SourceAccount}:root"}}


def _properties(template: dict[str, Any], name: str) -> dict[str, Any]:
    properties: dict[str, Any] = template["Resources"][name]["Properties"]
    return properties


def test_the_deployment_may_only_add_copies() -> None:
    (statement,) = _properties(VAULT, "Vault")["AccessPolicy"]["Statement"]
    assert statement["Principal"] == SOURCE
    assert statement["Action"] == "backup:CopyIntoBackupVault"
    for one in _properties(VAULT, "Key")["KeyPolicy"]["Statement"]:
        if one["Principal"] == SOURCE:
            actions = set(one["Action"])
            assert not {action for action in actions if "*" in action}
            assert not actions & {"kms:PutKeyPolicy", "kms:ScheduleKeyDeletion", "kms:DisableKey"}
        else:
            own = "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"
            assert one["Principal"] == {"AWS": {"Fn::Sub": own}}


def test_copies_are_locked_from_the_first_day_on() -> None:
    lock = _properties(VAULT, "Vault")["LockConfiguration"]
    assert lock["MinRetentionDays"] == {"Ref": "MinRetentionDays"}
    assert VAULT["Parameters"]["MinRetentionDays"]["MinValue"] >= 1


def test_the_defaults_of_the_plan_are_within_those_of_the_vault() -> None:
    kept = PLAN["Parameters"]["CopyRetentionDays"]["Default"]
    bounds = VAULT["Parameters"]
    assert bounds["MinRetentionDays"]["Default"] <= kept <= bounds["MaxRetentionDays"]["Default"]


@pytest.mark.parametrize("template", [VAULT, PLAN])
def test_backups_and_their_keys_stay_when_the_stack_is_deleted(template: dict[str, Any]) -> None:
    for name in ("Key", "Vault"):
        assert template["Resources"][name]["DeletionPolicy"] == "Retain"
        assert template["Resources"][name]["UpdateReplacePolicy"] == "Retain"


def test_every_backup_is_copied_into_the_vault_of_the_other_account() -> None:
    (rule,) = _properties(PLAN, "Plan")["BackupPlan"]["BackupPlanRule"]
    (copy,) = rule["CopyActions"]
    assert copy["DestinationBackupVaultArn"] == {"Ref": "CopyVaultArn"}
    arn = "arn:aws:backup:eu-west-1:111122223333:backup-vault:stowage"
    assert re.fullmatch(PLAN["Parameters"]["CopyVaultArn"]["AllowedPattern"], arn)


def _selected_tags(deployment: str) -> dict[str, str]:
    """Return the tags of the tables that the plan of a deployment backs up."""
    selection = _properties(PLAN, "Selection")["BackupSelection"]
    (kind,) = selection["Resources"]
    assert kind["Fn::Sub"].endswith(":dynamodb:*:*:table/*")
    tags = {}
    for condition in selection["Conditions"]["StringEquals"]:
        value = condition["ConditionValue"]
        name = condition["ConditionKey"].removeprefix("aws:ResourceTag/")
        tags[name] = deployment if value == {"Ref": "Deployment"} else value
    return tags


def test_the_plan_selects_the_tables_of_tenants() -> None:
    with deployed():
        tenant_tables.ensure_table("acme", lambda _: None, exists=False)
        table = tenant_tables.describe_table(config().tenant_table("acme"))
        assert table
        found = aws.client("dynamodb").list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
        tags = {tag["Key"]: tag["Value"] for tag in found}
        assert tags.items() >= _selected_tags(config().stack).items()


def test_the_plan_selects_the_tables_of_the_stack() -> None:
    """`make deploy` gives all resources of the stack the tags, so no table sets others."""
    deploy = (ROOT / "tools/deploy.py").read_text(encoding="utf-8")
    tags = " ".join(f"{name}={value}" for name, value in _selected_tags("{self.stack}").items())
    assert f'tags = f"{tags}"' in deploy
    for table in Template({}).resources("AWS::DynamoDB::Table").values():
        assert not {tag["Key"] for tag in table.get("Tags", ())} & _selected_tags("").keys()
