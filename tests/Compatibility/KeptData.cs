using System.IO.Compression;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Compatibility.Tests;

/// <summary>
/// Where the files lie that earlier versions wrote: a folder for each version, directories of a database as archives.
/// </summary>
internal static class KeptData
{
    /// <summary>The key of what is encrypted there. It protects nothing.</summary>
    public static EncryptionKey Key() =>
        EncryptionKey.FromBytes([.. Enumerable.Range(1, EncryptionKey.SizeBytes).Select(number => (byte)number)]);

    /// <summary>The folder of all versions.</summary>
    public static string Folder { get; } = Path.Combine(DataSets.RepositoryRoot, "tests", "Compatibility", "Data");

    /// <summary>Path of a file of a version.</summary>
    public static string PathOf(string version, string file) => Path.Combine(Folder, version, file);

    /// <summary>Unpacks an archive of a version into a folder.</summary>
    public static string Unpack(string version, string archive, string target)
    {
        ZipFile.ExtractToDirectory(PathOf(version, archive), target);
        return target;
    }

    /// <summary>Packs a folder, its empty folders and locks left out.</summary>
    public static void Pack(string source, string archive)
    {
        using ZipArchive packed = ZipFile.Open(archive, ZipArchiveMode.Create);
        foreach (string file in Directory.EnumerateFiles(source, "*", SearchOption.AllDirectories)
            .Where(file => !file.EndsWith("lock.treepie", StringComparison.Ordinal)).Order(StringComparer.Ordinal))
        {
            using Stream from = new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
            using Stream to = packed.CreateEntry(
                Path.GetRelativePath(source, file).Replace('\\', '/'), CompressionLevel.SmallestSize).Open();
            from.CopyTo(to);
        }
    }
}
