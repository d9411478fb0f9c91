using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Storage;
using Treepie.Storage.Files;

namespace Treepie.Indexes.Directories;

/// <summary>
/// The location of an index: a directory with <c>definition.json</c> and the store. The definition is written last when an
/// index is created and deleted first when it is removed, each atomically; a directory without it was left by a crash and is
/// deleted at the next start. A new directory never reuses the name of an old one, so an index can be created while its
/// predecessor is still being read. In an encrypted database the definition is stored in the documents' environment instead,
/// and the directory's name contains only a number.
/// </summary>
internal sealed class IndexDirectory
{
    private const string DefinitionFile = "definition.json";
    private const string StoreFolder = "store";
    private const string SealedName = "index";

    private readonly SealedDefinitions? _sealed;
    private readonly Func<string, StorageOptions, StorageEnvironment> _open;

    private IndexDirectory(
        string path, long generation, SealedDefinitions? sealedDefinitions,
        Func<string, StorageOptions, StorageEnvironment>? open)
    {
        _open = open ?? StorageEnvironment.Open;
        Path = path;
        Generation = generation;
        _sealed = sealedDefinitions;
    }

    public string Path { get; }

    /// <summary>The generation; greater for a later directory.</summary>
    public long Generation { get; }

    /// <summary>The directory of the store.</summary>
    public string StorePath => System.IO.Path.Combine(Path, StoreFolder);

    /// <summary>The name of the directory.</summary>
    public string Name => System.IO.Path.GetFileName(Path);

    /// <summary>Creates a directory for an index, without its definition.</summary>
    /// <param name="parent">The directory of all indexes.</param>
    /// <param name="definition">The definition.</param>
    /// <param name="generation">The generation.</param>
    /// <param name="sealedDefinitions">The definitions of an encrypted database, otherwise null.</param>
    /// <param name="open">Opens a store in a directory; null: in files.</param>
    public static IndexDirectory Create(
        string parent, IndexMapping definition, long generation, SealedDefinitions? sealedDefinitions = null,
        Func<string, StorageOptions, StorageEnvironment>? open = null)
    {
        string readable = sealedDefinitions is null ? SafeName(definition.Name) : SealedName;
        string path = System.IO.Path.Combine(parent, string.Create(CultureInfo.InvariantCulture, $"{readable}.{generation}"));
        PrivateFiles.CreateDirectory(path);
        return new IndexDirectory(path, generation, sealedDefinitions, open);
    }

    /// <summary>
    /// Returns all indexes below a directory, with every version of static ones, by generation. Directories left by a crash
    /// or unreadable are deleted: queries create auto-indexes again, and static definitions are stored elsewhere.
    /// </summary>
    /// <param name="parent">The directory of all indexes.</param>
    /// <param name="sealedDefinitions">The definitions of an encrypted database, otherwise null.</param>
    /// <param name="open">Opens a store in a directory; null: in files.</param>
    public static IReadOnlyList<(IndexDirectory Directory, IndexMapping Definition)> Scan(
        string parent, SealedDefinitions? sealedDefinitions = null,
        Func<string, StorageOptions, StorageEnvironment>? open = null)
    {
        var found = new Dictionary<string, (IndexDirectory Directory, IndexMapping Definition)>(StringComparer.OrdinalIgnoreCase);
        var versions = new List<(IndexDirectory Directory, IndexMapping Definition)>();
        Dictionary<string, IndexMapping>? definitions = sealedDefinitions?.ReadAll();
        foreach (string path in Directory.EnumerateDirectories(parent))
        {
            string suffix = System.IO.Path.GetExtension(path);
            bool isNumbered = long.TryParse(
                suffix.AsSpan(Math.Min(1, suffix.Length)), NumberStyles.None, CultureInfo.InvariantCulture, out long generation);
            var directory = new IndexDirectory(path, generation, sealedDefinitions, open);
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
            sealedDefinitions?.Retract(lost); // the files of the index were deleted by something else
        return [.. found.Values.Concat(versions).OrderBy(f => f.Directory.Generation)];
    }

    /// <summary>
    /// Returns the key of the store, which the caller disposes once the store is open; null in an unencrypted database.
    /// </summary>
    public EncryptionKey? Key() => _sealed?.KeyOf(Name);

    /// <summary>Opens the store.</summary>
    public StorageEnvironment OpenStore()
    {
        using EncryptionKey? key = Key();
        var options = new StorageOptions { Durability = Durability.Relaxed, EncryptionKey = key, IsBackgroundQuiet = true };
        return _open(StorePath, _sealed is null ? options : options with
        {
            DecryptedBudgetBytes = _sealed.DecryptedBudgetBytes,
            MemoryBudgetBytes = Math.Max(StorageOptions.DefaultMemoryBudgetBytes, _sealed.DecryptedBudgetBytes),
        });
    }

    /// <summary>
    /// Returns the folder for an index that had another one elsewhere: in an encrypted database, one that does not reveal
    /// its name.
    /// </summary>
    public static string FolderFor(string folder, bool isEncrypted) =>
        isEncrypted ? SealedName + System.IO.Path.GetExtension(folder) : folder;

    /// <summary>Returns the path of the store of an index by its folder.</summary>
    public static string StorePathOf(string parent, string folder) => System.IO.Path.Combine(parent, folder, StoreFolder);

    /// <summary>Writes the definition: from now on the index exists.</summary>
    /// <exception cref="IndexSchemaException">The index could not be opened with the definition as it would be read; nothing was
    /// changed.</exception>
    public void Publish(IndexMapping definition)
    {
        byte[] written = DefinitionJson.Write(definition);
        if (definition.IsMadeByQueries
            && DefinitionJson.Read(written)?.Schema.Fields.SequenceEqual(definition.Schema.Fields) != true)
            throw new IndexSchemaException(
                $"The definition of the index '{definition.Name}' cannot be written and read again, as a name in it is no valid "
                    + "text.");

        Publish(System.IO.Path.GetDirectoryName(Path)!, Name, written, _sealed); // Path always has a parent directory
    }

    /// <summary>
    /// Writes a definition in the form of <see cref="DefinitionJson"/>: from now on the index in the folder exists.
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

    /// <summary>Deletes an index that is not open.</summary>
    public void Discard()
    {
        Retract();
        Delete();
    }

    /// <summary>Deletes the store, so that it is rebuilt.</summary>
    public void DeleteStore()
    {
        if (Directory.Exists(StorePath))
            Directory.Delete(StorePath, recursive: true);
    }

    /// <summary>Deletes the directory; the definition must have been retracted before, or not exist.</summary>
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

    /// <summary>
    /// Returns a name valid in every file system: the readable part of the index's name and a hash of the full name.
    /// </summary>
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
