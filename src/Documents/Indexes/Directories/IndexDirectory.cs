using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Storage;
using Treepie.Storage.Files;

namespace Treepie.Indexes.Directories;

/// <summary>
/// Where an index lies: a directory of its own with <c>definition.json</c> and its store. The definition is written last when an
/// index is made and deleted first when it goes, each in one step; a directory without it is left over from a crash and swept
/// away at the next start. A new directory never takes the name of an old one, so an index can be made while its predecessor is
/// still read. In an encrypted database the definition lies in the documents' environment instead, and the directory's name is a
/// number.
/// </summary>
internal sealed class IndexDirectory
{
    private const string DefinitionFile = "definition.json";
    private const string StoreFolder = "store";
    private const string SealedName = "index";

    private readonly SealedDefinitions? _sealed;

    private IndexDirectory(string path, long generation, SealedDefinitions? sealedDefinitions)
    {
        Path = path;
        Generation = generation;
        _sealed = sealedDefinitions;
    }

    public string Path { get; }

    /// <summary>Greater for a later directory.</summary>
    public long Generation { get; }

    /// <summary>Directory of the store.</summary>
    public string StorePath => System.IO.Path.Combine(Path, StoreFolder);

    /// <summary>Its name.</summary>
    public string Name => System.IO.Path.GetFileName(Path);

    /// <summary>Makes a directory for an index, without its definition.</summary>
    public static IndexDirectory Create(
        string parent, IndexMapping definition, long generation, SealedDefinitions? sealedDefinitions = null)
    {
        string readable = sealedDefinitions is null ? SafeName(definition.Name) : SealedName;
        string path = System.IO.Path.Combine(parent, string.Create(CultureInfo.InvariantCulture, $"{readable}.{generation}"));
        PrivateFiles.CreateDirectory(path);
        return new IndexDirectory(path, generation, sealedDefinitions);
    }

    /// <summary>
    /// All indexes below a directory, of those defined by hand every version, by generation. What a crash left over, or cannot be
    /// read, is deleted: queries make it again, and definitions made by hand are kept elsewhere.
    /// </summary>
    public static IReadOnlyList<(IndexDirectory Directory, IndexMapping Definition)> Scan(
        string parent, SealedDefinitions? sealedDefinitions = null)
    {
        var found = new Dictionary<string, (IndexDirectory Directory, IndexMapping Definition)>(StringComparer.OrdinalIgnoreCase);
        var versions = new List<(IndexDirectory Directory, IndexMapping Definition)>();
        Dictionary<string, IndexMapping>? definitions = sealedDefinitions?.ReadAll();
        foreach (string path in Directory.EnumerateDirectories(parent))
        {
            string suffix = System.IO.Path.GetExtension(path);
            bool isNumbered = long.TryParse(
                suffix.AsSpan(Math.Min(1, suffix.Length)), NumberStyles.None, CultureInfo.InvariantCulture, out long generation);
            var directory = new IndexDirectory(path, generation, sealedDefinitions);
            IndexMapping? definition = !isNumbered
                ? null
                : definitions is null ? directory.ReadDefinition() : definitions.GetValueOrDefault(directory.Name);
            if (definition is null)
            {
                directory.Delete();
                continue;
            }

            if (definition is StaticIndexMapping)
            {
                versions.Add((directory, definition));
                continue;
            }

            if (found.TryGetValue(definition.Name, out var other))
            {
                IndexDirectory earlier = generation > other.Directory.Generation ? other.Directory : directory;
                earlier.Retract();
                earlier.Delete();
            }

            if (other.Directory is null || generation > other.Directory.Generation)
                found[definition.Name] = (directory, definition);
        }

        foreach (string lost in definitions?.Keys.Where(name => !Directory.Exists(System.IO.Path.Combine(parent, name))) ?? [])
            sealedDefinitions?.Retract(lost); // of an index whose files somebody took away
        return [.. found.Values.Concat(versions).OrderBy(f => f.Directory.Generation)];
    }

    /// <summary>The key of the store, to be disposed when that is open; null in a plain database.</summary>
    public EncryptionKey? Key() => _sealed?.KeyOf(Name);

    /// <summary>Opens the store.</summary>
    public StorageEnvironment OpenStore()
    {
        using EncryptionKey? key = Key();
        var options = new StorageOptions { Durability = Durability.Relaxed, EncryptionKey = key, IsBackgroundQuiet = true };
        return StorageEnvironment.Open(StorePath, _sealed is null ? options : options with
        {
            DecryptedBudgetBytes = _sealed.DecryptedBudgetBytes,
            MemoryBudgetBytes = Math.Max(StorageOptions.DefaultMemoryBudgetBytes, _sealed.DecryptedBudgetBytes),
        });
    }

    /// <summary>
    /// The folder that an index gets which had another one elsewhere: in an encrypted database one that says nothing of it.
    /// </summary>
    public static string FolderFor(string folder, bool isEncrypted) =>
        isEncrypted ? SealedName + System.IO.Path.GetExtension(folder) : folder;

    /// <summary>Where the store of an index lies that has this folder.</summary>
    public static string StorePathOf(string parent, string folder) => System.IO.Path.Combine(parent, folder, StoreFolder);

    /// <summary>Writes the definition: from now on the index exists.</summary>
    // it lies in its parent
    public void Publish(IndexMapping definition) =>
        Publish(System.IO.Path.GetDirectoryName(Path)!, Name, DefinitionJson.Write(definition), _sealed);

    /// <summary>
    /// Writes a definition as <see cref="DefinitionJson"/> made it: from now on the index in that folder exists.
    /// </summary>
    public static void Publish(string parent, string folder, byte[] definition, SealedDefinitions? sealedDefinitions)
    {
        if (sealedDefinitions is not null)
        {
            sealedDefinitions.Publish(folder, definition);
            return;
        }

        DurableFile.Write(System.IO.Path.Combine(parent, folder, DefinitionFile), definition);
    }

    /// <summary>Deletes the definition: from now on the index does not exist.</summary>
    public void Retract()
    {
        if (_sealed is not null)
            _sealed.Retract(Name);
        else
            File.Delete(System.IO.Path.Combine(Path, DefinitionFile));
    }

    /// <summary>Deletes an index that nobody has open.</summary>
    public void Discard()
    {
        Retract();
        Delete();
    }

    /// <summary>Deletes the store, so that it is built again.</summary>
    public void DeleteStore()
    {
        if (Directory.Exists(StorePath))
            Directory.Delete(StorePath, recursive: true);
    }

    /// <summary>Deletes all of the directory; before it, the definition has been retracted or there is none.</summary>
    public void Delete()
    {
        if (_sealed is null)
            Retract();
        if (Directory.Exists(Path))
            Directory.Delete(Path, recursive: true);
    }

    private IndexMapping? ReadDefinition()
    {
        string file = System.IO.Path.Combine(Path, DefinitionFile);
        return File.Exists(file) ? DefinitionJson.Read(File.ReadAllBytes(file)) : null;
    }

    /// <summary>A name every file system takes: the readable part of the index's name and a hash of the whole.</summary>
    private static string SafeName(string name)
    {
        const int MaxReadable = 80;
        string hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(name)).AsSpan(0, 4));
        string readable = string.Create(Math.Min(name.Length, MaxReadable), name, static (output, source) =>
        {
            for (int i = 0; i < output.Length; i++)
                output[i] = char.IsAsciiLetterOrDigit(source[i]) || source[i] is '-' or '_' ? source[i] : '_';
        });
        return $"{readable}-{hash}";
    }
}
