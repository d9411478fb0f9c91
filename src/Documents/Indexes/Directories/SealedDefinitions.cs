using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Storage;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Indexes.Directories;

/// <summary>
/// The definitions and keys of the indexes of an encrypted database. The definitions are stored in a tree of the documents'
/// environment, by the name of the directory, which reveals nothing. Each index has its own key, derived from the documents'
/// data key, so that the user's key wraps only one key.
/// </summary>
internal sealed class SealedDefinitions(StorageEnvironment documents, long decryptedBudgetBytes)
{
    private const string KeyPurpose = "index/";

    private readonly NamedRecords _records = new(documents, TreeNames.IndexDefinitions);

    /// <summary>The memory budget of each index for decrypted pages, in bytes.</summary>
    public long DecryptedBudgetBytes => decryptedBudgetBytes;

    /// <summary>Returns the key of an index, which the caller disposes once the store is open.</summary>
    public EncryptionKey KeyOf(string folder) => documents.DeriveKey(PurposeOf(folder));

    /// <summary>Returns the purpose from which the key of an index is derived.</summary>
    public static string PurposeOf(string folder) => KeyPurpose + folder;

    /// <summary>Returns all definitions by directory; unreadable ones are skipped.</summary>
    public Dictionary<string, IndexMapping> ReadAll()
    {
        var definitions = new Dictionary<string, IndexMapping>(StringComparer.Ordinal);
        foreach ((string folder, byte[] value) in _records.ReadAll())
            if (DefinitionJson.Read(value) is { } definition)
                definitions[folder] = definition;
        return definitions;
    }

    public void Publish(string folder, byte[] definition) => _records.Put(Encoding.UTF8.GetBytes(folder), definition);

    public void Retract(string folder) => _records.Delete(Encoding.UTF8.GetBytes(folder));
}
