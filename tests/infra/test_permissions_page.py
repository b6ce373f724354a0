from __future__ import annotations

from slate_infra.permissions_page import PAGE, STATEMENTS, page, statements


def test_the_page_is_what_the_template_allows(stack):
    assert PAGE.read_text() == page(stack), "run: make permissions"
    assert STATEMENTS.read_text() == statements(stack), "run: make permissions"


def test_every_function_has_its_section_and_every_wildcard_its_reason(stack):
    text = PAGE.read_text()
    for name in stack.of_type("AWS::Lambda::Function"):
        assert f"## {name.removeprefix('Functions').removesuffix('Function')}\n" in text
    rules = {accepted.rule for accepted in stack.accepted()}
    for role in stack.of_type("AWS::IAM::Role"):
        for statement in stack.statements(role):
            if "*" in statement.resource:
                written = statement.resource.replace("StorageContent.Arn", "<StorageContent.Arn>")
                written = written.replace("${aws:PrincipalTag/tenant}", "<aws:PrincipalTag/tenant>")
                written = written.replace("AWS::AccountId", "<AWS::AccountId>")
                assert f"IAM5[Resource::{written}]" in rules
