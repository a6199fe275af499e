"""The generated module is what the .proto says, and loads without a program that generates."""

import re
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

from gradlab.tpu.engine import proto
from gradlab.tpu.engine.proto import tpu_embedding_pb2 as generated

SOURCE = Path(generated.__file__).with_name("tpu_embedding.proto")
PACKAGE = "gradlab.tpu"
Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    "double": Field.TYPE_DOUBLE,
    "float": Field.TYPE_FLOAT,
    "int64": Field.TYPE_INT64,
    "uint64": Field.TYPE_UINT64,
    "int32": Field.TYPE_INT32,
    "bool": Field.TYPE_BOOL,
    "string": Field.TYPE_STRING,
    "bytes": Field.TYPE_BYTES,
}
TOKENS = re.compile(r'"[^"]*"|[\w.]+|[{}=;,\[\]]')


class Reader:
    """A reader of as much of the language of .proto files as ours uses; it fails on everything else."""

    def __init__(self, text: str) -> None:
        self.tokens = TOKENS.findall(re.sub(r"//.*", "", text))
        self.types: dict[str, int] = {}
        self.waiting: list[tuple[Field, str, str]] = []

    def take(self, *wanted: str) -> str:
        token = self.tokens.pop(0)
        assert not wanted or token in wanted, f"{token!r} where {wanted} must be"
        return token

    def file(self) -> descriptor_pb2.FileDescriptorProto:
        made = descriptor_pb2.FileDescriptorProto(
            name="gradlab/tpu/engine/proto/tpu_embedding.proto"
        )
        while self.tokens:
            match self.take("syntax", "package", "import", "message"):
                case "syntax":
                    self.take("=")
                    made.syntax = self.take().strip('"')
                    self.take(";")
                case "package":
                    made.package = self.take()
                    self.take(";")
                case "import":
                    made.dependency.append(self.take().strip('"'))
                    self.take(";")
                case "message":
                    self.message(made.message_type.add(), f".{PACKAGE}")
        self.resolve()
        return made

    def message(self, made: descriptor_pb2.DescriptorProto, scope: str) -> None:
        made.name = self.take()
        scope = f"{scope}.{made.name}"
        self.types[scope] = Field.TYPE_MESSAGE
        self.take("{")
        while (word := self.take()) != "}":
            match word:
                case "message":
                    self.message(made.nested_type.add(), scope)
                case "enum":
                    self.enum(made.enum_type.add(), scope)
                case "reserved":
                    self.reserved(made)
                case "oneof":
                    made.oneof_decl.add(name=self.take())
                    self.take("{")
                    while (kind := self.take()) != "}":
                        self.field(made, kind, scope, False).oneof_index = len(made.oneof_decl) - 1
                case "repeated":
                    self.field(made, self.take(), scope, True)
                case _:
                    self.field(made, word, scope, False)

    def field(
        self, made: descriptor_pb2.DescriptorProto, kind: str, scope: str, repeated: bool
    ) -> Field:
        f = made.field.add(
            label=Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL, name=self.take()
        )
        self.take("=")
        f.number = int(self.take())
        if kind in SCALARS:
            f.type = SCALARS[kind]
        else:
            self.waiting.append((f, kind, scope))
        if self.take("[", ";") == "[":
            for word in ("deprecated", "=", "true", "]", ";"):
                self.take(word)
            f.options.deprecated = True
        return f

    def enum(self, made: descriptor_pb2.EnumDescriptorProto, scope: str) -> None:
        made.name = self.take()
        self.types[f"{scope}.{made.name}"] = Field.TYPE_ENUM
        self.take("{")
        while (name := self.take()) != "}":
            self.take("=")
            made.value.add(name=name, number=int(self.take()))
            self.take(";")

    def reserved(self, made: descriptor_pb2.DescriptorProto) -> None:
        end = ","
        while end == ",":
            token = self.take()
            if token.startswith('"'):
                made.reserved_name.append(token.strip('"'))
            else:
                made.reserved_range.add(start=int(token), end=int(token) + 1)
            end = self.take(",", ";")

    def resolve(self) -> None:
        """Types may stand below the fields that use them; the nearest scope counts."""
        for f, kind, scope in self.waiting:
            scopes = [scope]
            while scopes[-1]:
                scopes.append(scopes[-1].rpartition(".")[0])
            named = [f"{s}.{kind}" for s in scopes if f"{s}.{kind}" in self.types]
            f.type_name = named[0] if named else f".{kind}"
            f.type = self.types[named[0]] if named else Field.TYPE_MESSAGE


def loaded() -> descriptor_pb2.FileDescriptorProto:
    made = descriptor_pb2.FileDescriptorProto()
    generated.DESCRIPTOR.CopyToProto(made)
    for message in made.message_type:
        _without_json_names(message)
    return made


def _without_json_names(message: descriptor_pb2.DescriptorProto) -> None:
    for f in message.field:
        f.ClearField("json_name")
    for inner in message.nested_type:
        _without_json_names(inner)


def test_the_generated_module_is_current() -> None:
    assert Reader(SOURCE.read_text("utf-8")).file() == loaded(), (
        "generate it anew: see gradlab/tpu/engine/proto/__init__.py"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float beta1 = 3;", "float beta1 = 9;"),
        ("float rho = 1;", "double rho = 1;"),
        ("repeated int32 input_shape", "int32 input_shape"),
        ("  reserved 8;\n", ""),
        ("MIGRATION_ONLY = 3", "MIGRATION_ONLY = 4"),
        (" [deprecated = true]", ""),
        ("ClippingLimits clipping_limits = 2;  ", "LearningRate clipping_limits = 2;  "),
        ("    AssignParameters assign = 25;\n", ""),
    ],
)
def test_this_test_can_fail(old: str, new: str) -> None:
    text = SOURCE.read_text("utf-8")
    assert old in text
    assert Reader(text.replace(old, new, 1)).file() != loaded()


def test_the_types_for_checkers_are_of_the_same_fields() -> None:
    stub = Path(generated.__file__).with_suffix(".pyi").read_text("utf-8")
    for message in generated.DESCRIPTOR.message_types_by_name.values():
        _, _, body = stub.partition(f"\nclass {message.name}(_message.Message):")
        body = body.partition("\nclass ")[0]
        assert body, message.name
        for field in message.fields:
            assert f"    {field.name}: " in body, f"{message.name}.{field.name}"


def test_every_message_is_exported() -> None:
    assert set(generated.DESCRIPTOR.message_types_by_name) == {
        n for n in proto.__all__ if n[0].isupper()
    }


def test_the_modules_of_tensorflow_have_namesakes() -> None:
    assert proto.optimization_parameters_pb2.AdamParameters is proto.AdamParameters
    assert (
        proto.tpu_embedding_configuration_pb2.TPUEmbeddingConfiguration
        is proto.TPUEmbeddingConfiguration
    )


def test_the_package_is_our_own() -> None:
    assert generated.DESCRIPTOR.package == PACKAGE
    assert all(
        d.full_name.startswith(f"{PACKAGE}.")
        for d in generated.DESCRIPTOR.message_types_by_name.values()
    )
