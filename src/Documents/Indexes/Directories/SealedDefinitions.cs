using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Storage;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Indexes.Directories;

/// <summary>
/// What tells the directories of an encrypted database's indexes apart, kept where nobody can read it: the definitions lie in a
/// tree of the documents' environment, by the name of the directory, which says nothing; and each index has a key of its own,
/// made from the documents' data key, so that the user's key wraps one key only.
/// </summary>
internal sealed class SealedDefinitions(StorageEnvironment documents, long decryptedBudgetBytes)
{
    private const string KeyPurpose = "index/";

    private readonly NamedRecords _records = new(documents, TreeNames.IndexDefinitions);

    /// <summary>Bytes of decrypted pages that each index keeps in memory.</summary>
    public long DecryptedBudgetBytes => decryptedBudgetBytes;

    /// <summary>The key of an index; to be disposed when its store is open.</summary>
    public EncryptionKey KeyOf(string folder) => documents.DeriveKey(PurposeOf(folder));

    /// <summary>What the key of an index is derived for.</summary>
    public static string PurposeOf(string folder) => KeyPurpose + folder;

    /// <summary>All definitions by directory; what cannot be read is left out.</summary>
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
