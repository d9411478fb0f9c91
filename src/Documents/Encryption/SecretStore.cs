using System.Security.Cryptography;
using System.Text;
using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Encryption;

/// <summary>
/// Stores the keys of a catalogue's databases in a small encrypted environment beside them (<c>secrets</c>), which is opened with
/// the master key. Thread-safe.
/// </summary>
/// <remarks>
/// The tree <c>keys</c> maps the upper-case name of a database to its key of 32 bytes. While the key is being changed, the
/// new key is appended to it, so that after a crash both candidates are known.
/// </remarks>
public sealed class SecretStore : IDisposable
{
    /// <summary>The name of its folder in the directory of a catalogue.</summary>
    public const string FolderName = "secrets";

    private const string KeysTree = "keys";
    private const int KeyBytes = EncryptionKey.SizeBytes;

    private readonly StorageEnvironment _environment;

    private SecretStore(StorageEnvironment environment) => _environment = environment;

    /// <summary>Opens the store in a catalogue's directory; creates it if it does not exist, unless opened read-only.</summary>
    /// <exception cref="KeySourceException">The master key is missing or does not open the store.</exception>
    /// <exception cref="StorageException">Its files cannot be read or written.</exception>
    public static SecretStore Open(string dataDirectory, KeySource masterKey, bool readOnly = false)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(dataDirectory);
        ArgumentNullException.ThrowIfNull(masterKey);
        string directory = Path.Combine(dataDirectory, FolderName);
        using EncryptionKey key = masterKey.Read();
        try
        {
            return new SecretStore(StorageEnvironment.Open(directory, new StorageOptions
            {
                EncryptionKey = key,
                ReadOnly = readOnly,
                MaxDataFileBytes = 64 << 20, // a few hundred bytes per database
                ScratchBudgetBytes = 1 << 20,
                FirstJournalFileBytes = 16 << 10,
                MaxJournalFileBytes = 256 << 10,
            }));
        }
        catch (EncryptionKeyException error)
        {
            throw new KeySourceException(
                $"{masterKey.Description} does not hold the master key of the secrets store in '{directory}': {error.Message}",
                error);
        }
    }

    /// <summary>
    /// Returns the keys that may open a database, to be disposed by the caller: none, one, or two if a change of the key was
    /// interrupted; <see cref="EnvironmentKeys.IsKeyOf"/> tells which is the right one.
    /// </summary>
    public IReadOnlyList<EncryptionKey> Find(string database)
    {
        using ReadTransaction read = _environment.BeginRead();
        if (read.FindTree(KeysTree) is not { } keys || !keys.TryGet(Fold(database), out ReadOnlySpan<byte> value))
            return [];
        EncryptionKey current = EncryptionKey.FromBytes(value[..KeyBytes]);
        return value.Length > KeyBytes ? [current, EncryptionKey.FromBytes(value[KeyBytes..])] : [current];
    }

    /// <inheritdoc/>
    public void Dispose() => _environment.Dispose();

    /// <summary>
    /// Stores a key, followed by the next one if the key of the database is about to change. Durable when the method returns.
    /// </summary>
    internal void Put(string database, EncryptionKey key, EncryptionKey? next = null)
    {
        byte[] name = Fold(database);
        using var value = new SecretBuffer(2 * KeyBytes);
        key.CopyTo(value.Free.Span);
        value.Advance(KeyBytes);
        if (next is not null)
        {
            next.CopyTo(value.Free.Span);
            value.Advance(KeyBytes);
        }

        _environment.Write(transaction => transaction.GetOrCreateTree(KeysTree).Put(name, value.Span));
    }

    /// <summary>Removes the key of a database that was deleted with its files.</summary>
    internal void Remove(string database)
    {
        byte[] name = Fold(database);
        _environment.Write(transaction =>
        {
            transaction.UseReserve();
            return transaction.GetOrCreateTree(KeysTree).Delete(name);
        });
    }

    /// <summary>Compares two keys in constant time.</summary>
    internal static bool AreEqual(EncryptionKey left, EncryptionKey right)
    {
        if (left.IsPassphrase || right.IsPassphrase)
            return false;

        Span<byte> leftBytes = stackalloc byte[KeyBytes], rightBytes = stackalloc byte[KeyBytes];
        left.CopyTo(leftBytes);
        right.CopyTo(rightBytes);
        bool areEqual = CryptographicOperations.FixedTimeEquals(leftBytes, rightBytes);
        CryptographicOperations.ZeroMemory(leftBytes);
        CryptographicOperations.ZeroMemory(rightBytes);
        return areEqual;
    }

    private static byte[] Fold(string database) => Encoding.UTF8.GetBytes(database.ToUpperInvariant());
}
