using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Treepie.Clients.Tests.Package;

/// <summary>What debuggers find in a package of symbols, and native code in an assembly.</summary>
internal static class PackedSymbols
{
    private static readonly Guid _embeddedSource = new("0e8a571b-6926-466e-b4ad-8ab04611f5fe");
    private static readonly Guid _sourceLink = new("cc110556-a091-4d38-9fec-25ab9a351a6a");

    /// <summary>
    /// Fails if a source has the path of the machine that compiled it, or is neither in the repository nor in the symbols.
    /// </summary>
    public static void RequireSourcesWithoutPlaces(Stream pdb)
    {
        using MetadataReaderProvider provider = Open(pdb);
        MetadataReader reader = provider.GetMetadataReader();
        Assert.NotEmpty(reader.Documents);
        foreach (DocumentHandle handle in reader.Documents)
        {
            string name = reader.GetString(reader.GetDocument(handle).Name);
            Assert.StartsWith("/_/", name, StringComparison.Ordinal);
            if (name.Contains("/obj/", StringComparison.Ordinal))
                Assert.True(Holds(reader, handle, _embeddedSource), $"{name} is made by the compiler, and not in the symbols.");
        }
    }

    /// <summary>Where the symbols say that sources are: JSON.</summary>
    public static string SourceLink(Stream pdb)
    {
        using MetadataReaderProvider provider = Open(pdb);
        MetadataReader reader = provider.GetMetadataReader();
        CustomDebugInformation found = Assert.Single(
            reader.GetCustomDebugInformation(EntityHandle.ModuleDefinition).Select(reader.GetCustomDebugInformation),
            one => reader.GetGuid(one.Kind) == _sourceLink);
        return System.Text.Encoding.UTF8.GetString(reader.GetBlobBytes(found.Value));
    }

    /// <summary>Whether an assembly holds native code beside its own (ReadyToRun).</summary>
    public static bool IsCompiledBeforehand(string assembly)
    {
        using var reader = new PEReader(File.OpenRead(assembly));
        return reader.PEHeaders.CorHeader?.ManagedNativeHeaderDirectory.Size > 0;
    }

    private static bool Holds(MetadataReader reader, DocumentHandle handle, Guid kind) =>
        reader.GetCustomDebugInformation(handle).Any(
            one => reader.GetGuid(reader.GetCustomDebugInformation(one).Kind) == kind);

    private static MetadataReaderProvider Open(Stream pdb)
    {
        var copy = new MemoryStream();
        pdb.CopyTo(copy);
        copy.Position = 0;
        return MetadataReaderProvider.FromPortablePdbStream(copy);
    }
}
