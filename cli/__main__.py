"""Run the command line without its script, as the deployment of GitHub Actions does."""

from cli.main import main

main(prog_name="stowage")
