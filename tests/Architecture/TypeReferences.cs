using System.Collections.Immutable;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

namespace Treepie.Architecture.Tests;

/// <summary>
/// Which type of an assembly refers to which other type of the same assembly, read from its metadata and its IL: base types,
/// interfaces, fields, signatures and every instruction that names a type, method or field.
/// </summary>
internal sealed class TypeReferences
{
    private static readonly Dictionary<short, OpCode> _opCodesByValue = typeof(OpCodes).GetFields()
        .Select(field => (OpCode)field.GetValue(null)!) // every public field of OpCodes is a static OpCode
        .ToDictionary(code => code.Value);

    private readonly PEReader _file;
    private readonly MetadataReader _metadata;
    private readonly HashSet<(string From, string To)> _found = [];
    private readonly HashSet<(string From, string Type, string Member)> _outside = [];

    private TypeReferences(PEReader file)
    {
        _file = file;
        _metadata = file.GetMetadataReader();
    }

    /// <summary>
    /// All pairs, by full name of the outermost type. Without sources of another project that an assembly compiles too: they have
    /// their place there.
    /// </summary>
    public static IReadOnlyCollection<(string From, string To)> Within(string assembly)
    {
        using var file = new PEReader(File.OpenRead(Assemblies.PathOf(assembly)));
        var references = new TypeReferences(file);
        references.Collect();
        return [.. references._found.Where(pair => IsOwn(pair.From) && IsOwn(pair.To))];

        bool IsOwn(string type) => type.StartsWith(assembly + ".", StringComparison.Ordinal);
    }

    /// <summary>
    /// Members of types of other assemblies that the code of an assembly names, with the outermost type that does.
    /// </summary>
    public static IReadOnlyCollection<(string From, string Type, string Member)> MembersOutside(string assembly)
    {
        using var file = new PEReader(File.OpenRead(Assemblies.PathOf(assembly)));
        var references = new TypeReferences(file);
        references.Collect();
        return references._outside;
    }

    private void Collect()
    {
        foreach (TypeDefinitionHandle handle in _metadata.TypeDefinitions)
        {
            string from = NameOf(handle);
            if (!from.StartsWith("Treepie", StringComparison.Ordinal))
                continue; // what the compiler adds

            TypeDefinition type = _metadata.GetTypeDefinition(handle);
            var names = new NameCollector(this, from);
            Add(from, type.BaseType, names);
            foreach (InterfaceImplementationHandle implemented in type.GetInterfaceImplementations())
                Add(from, _metadata.GetInterfaceImplementation(implemented).Interface, names);
            foreach (FieldDefinitionHandle field in type.GetFields())
                _metadata.GetFieldDefinition(field).DecodeSignature(names, null);
            foreach (MethodDefinitionHandle method in type.GetMethods())
                CollectMethod(from, _metadata.GetMethodDefinition(method), names);
        }
    }

    private void CollectMethod(string from, MethodDefinition method, NameCollector names)
    {
        method.DecodeSignature(names, null);
        if (method.RelativeVirtualAddress == 0)
            return;

        MethodBodyBlock body = _file.GetMethodBody(method.RelativeVirtualAddress);
        if (!body.LocalSignature.IsNil)
            _metadata.GetStandaloneSignature(body.LocalSignature).DecodeLocalSignature(names, null);

        BlobReader il = body.GetILReader();
        while (il.RemainingBytes > 0)
        {
            short value = il.ReadByte();
            if (value == 0xFE)
                value = unchecked((short)(0xFE00 | il.ReadByte()));
            OperandType operand = _opCodesByValue[value].OperandType;
            if (operand is OperandType.InlineField or OperandType.InlineMethod or OperandType.InlineTok or OperandType.InlineType)
                Add(from, MetadataTokens.EntityHandle(il.ReadInt32()), names);
            else
            {
                int skip = SizeOf(operand, ref il); // a switch is read to know its length, which moves the offset
                il.Offset += skip;
            }
        }
    }

    private static int SizeOf(OperandType operand, ref BlobReader il) => operand switch
    {
        OperandType.InlineNone => 0,
        OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar => 1,
        OperandType.InlineVar => 2,
        OperandType.InlineI8 or OperandType.InlineR => 8,
        OperandType.InlineSwitch => il.ReadInt32() * 4,
        _ => 4,
    };

    private void Add(string from, EntityHandle handle, NameCollector names)
    {
        if (handle.IsNil)
            return; // an interface has no base type

        switch (handle.Kind)
        {
            case HandleKind.TypeDefinition:
                _found.Add((from, NameOf((TypeDefinitionHandle)handle)));
                break;
            case HandleKind.TypeSpecification:
                _metadata.GetTypeSpecification((TypeSpecificationHandle)handle).DecodeSignature(names, null);
                break;
            case HandleKind.MethodDefinition:
                _found.Add((from, NameOf(_metadata.GetMethodDefinition((MethodDefinitionHandle)handle).GetDeclaringType())));
                break;
            case HandleKind.FieldDefinition:
                _found.Add((from, NameOf(_metadata.GetFieldDefinition((FieldDefinitionHandle)handle).GetDeclaringType())));
                break;
            case HandleKind.MemberReference:
                MemberReference member = _metadata.GetMemberReference((MemberReferenceHandle)handle);
                if (member.Parent.Kind == HandleKind.TypeReference)
                {
                    TypeReference type = _metadata.GetTypeReference((TypeReferenceHandle)member.Parent);
                    _outside.Add(
                        (from, $"{_metadata.GetString(type.Namespace)}.{_metadata.GetString(type.Name)}", _metadata.GetString(
                            member.Name)));
                }

                Add(from, _metadata.GetMemberReference((MemberReferenceHandle)handle).Parent, names);
                break;
            case HandleKind.MethodSpecification:
                MethodSpecification specification = _metadata.GetMethodSpecification((MethodSpecificationHandle)handle);
                specification.DecodeSignature(names, null);
                Add(from, specification.Method, names);
                break;
        }
    }

    private string NameOf(TypeDefinitionHandle handle)
    {
        TypeDefinition type = _metadata.GetTypeDefinition(handle);
        while (type.IsNested)
            type = _metadata.GetTypeDefinition(type.GetDeclaringType());
        return $"{_metadata.GetString(type.Namespace)}.{_metadata.GetString(type.Name)}";
    }

    /// <summary>Notes every type of this assembly that a signature names. Results are not used: the visit is the point.</summary>
    private sealed class NameCollector(TypeReferences owner, string from) : ISignatureTypeProvider<bool, object?>
    {
        public bool GetTypeFromDefinition(MetadataReader reader, TypeDefinitionHandle handle, byte rawTypeKind) =>
            owner._found.Add((from, owner.NameOf(handle)));

        public bool GetTypeFromSpecification(
            MetadataReader reader, object? genericContext, TypeSpecificationHandle handle, byte rawTypeKind) =>
            reader.GetTypeSpecification(handle).DecodeSignature(this, genericContext);

        public bool GetTypeFromReference(MetadataReader reader, TypeReferenceHandle handle, byte rawTypeKind) => false;

        public bool GetArrayType(bool elementType, ArrayShape shape) => false;

        public bool GetByReferenceType(bool elementType) => false;

        public bool GetFunctionPointerType(MethodSignature<bool> signature) => false;

        public bool GetGenericInstantiation(bool genericType, ImmutableArray<bool> typeArguments) => false;

        public bool GetGenericMethodParameter(object? genericContext, int index) => false;

        public bool GetGenericTypeParameter(object? genericContext, int index) => false;

        public bool GetModifiedType(bool modifier, bool unmodifiedType, bool isRequired) => false;

        public bool GetPinnedType(bool elementType) => false;

        public bool GetPointerType(bool elementType) => false;

        public bool GetPrimitiveType(PrimitiveTypeCode typeCode) => false;

        public bool GetSZArrayType(bool elementType) => false;
    }
}
