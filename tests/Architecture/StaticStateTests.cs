using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Treepie.Architecture.Tests;

/// <summary>
/// Two databases in one process share nothing but the thread pool: what is static cannot be set, and is no collection that grows.
/// Arrays are tables: nobody writes into one, which no compiled file can prove.
/// </summary>
public sealed class StaticStateTests
{
    private static readonly string[] _growing =
    [
        "List`1", "Dictionary`2", "HashSet`1", "SortedDictionary`2", "SortedSet`1", "Queue`1", "Stack`1",
        "ConcurrentDictionary`2", "ConcurrentQueue`1", "ConcurrentBag`1", "ConcurrentStack`1",
        "ConditionalWeakTable`2", "ThreadLocal`1", "AsyncLocal`1"
    ];

    /// <summary>Counters of a thread, which begin anew with each run on it: no two databases meet in them.</summary>
    private static readonly string[] _ofThread = ["Treepie.Computing.Values.Comparisons._parts"];

    public static TheoryData<string> Ours => [.. Assemblies.Ours];

    [Theory]
    [MemberData(nameof(Ours))]
    public void Nothing_static_can_be_set_or_grows(string assembly)
    {
        using var file = new PEReader(File.OpenRead(Assemblies.PathOf(assembly)));
        MetadataReader metadata = file.GetMetadataReader();
        var found = new List<string>();
        int looked = 0;
        foreach (FieldDefinitionHandle handle in metadata.FieldDefinitions)
        {
            FieldDefinition field = metadata.GetFieldDefinition(handle);
            string type = NameOf(metadata, field.GetDeclaringType());
            if (!field.Attributes.HasFlag(FieldAttributes.Static)
                || field.Attributes.HasFlag(FieldAttributes.Literal)
                || !type.StartsWith("Treepie", StringComparison.Ordinal))
                continue;
            looked++;
            string name = $"{type}.{metadata.GetString(field.Name)}";
            if (_ofThread.Contains(name))
                continue;
            if (!field.Attributes.HasFlag(FieldAttributes.InitOnly))
                found.Add($"{name} can be set: give it to an object that a database has");
            else if (GenericOf(metadata, field) is { } generic && _growing.Contains(generic))
                found.Add($"{name} is a {generic}: make it a frozen one, or give it to an object that a database has");
        }

        Assert.True(looked > 0, "No static field was looked at.");
        Assert.True(found.Count == 0, string.Join("\n", found));
    }

    /// <summary>The outer type's full name; empty where the compiler keeps delegates in a type of its own.</summary>
    private static string NameOf(MetadataReader metadata, TypeDefinitionHandle handle)
    {
        TypeDefinition type = metadata.GetTypeDefinition(handle);
        while (type.IsNested)
        {
            if (metadata.GetString(type.Name).StartsWith('<'))
                return "";
            type = metadata.GetTypeDefinition(type.GetDeclaringType());
        }

        return $"{metadata.GetString(type.Namespace)}.{metadata.GetString(type.Name)}";
    }

    /// <summary>The name of a generic type of the libraries that a field has; null if it has another.</summary>
    private static string? GenericOf(MetadataReader metadata, FieldDefinition field)
    {
        BlobReader signature = metadata.GetBlobReader(field.Signature);
        signature.ReadSignatureHeader();
        if (signature.ReadSignatureTypeCode() != SignatureTypeCode.GenericTypeInstance)
            return null;
        signature.ReadByte(); // a class, or a value
        EntityHandle generic = signature.ReadTypeHandle();
        return generic.Kind == HandleKind.TypeReference
            ? metadata.GetString(metadata.GetTypeReference((TypeReferenceHandle)generic).Name)
            : null;
    }
}
