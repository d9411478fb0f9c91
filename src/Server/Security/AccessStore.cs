using System.Text.Json;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Security;

/// <summary>
/// Stores the registered certificates and tokens: documents in a separate database, <c>system</c> in the data directory,
/// which no request can reach. It contains no secrets: certificates are public, their private keys are with their holders,
/// and only hashes of tokens are stored.
/// </summary>
internal sealed class AccessStore : IDisposable
{
    private const string FolderName = "system";
    private const string CertificatePrefix = "certificates/";
    private const string TokenPrefix = "tokens/";

    private readonly Database _database;

    /// <exception cref="TreepieException">The database cannot be opened.</exception>
    public AccessStore(string dataDirectory) =>
        _database = Database.Open(Path.Combine(dataDirectory, FolderName), new DatabaseOptions { Name = FolderName });

    /// <summary>Returns whether a data directory contains such a database.</summary>
    public static bool Exists(string dataDirectory) => Directory.Exists(Path.Combine(dataDirectory, FolderName));

    /// <summary>Returns all certificates.</summary>
    public IReadOnlyList<CertificateEntry> Certificates() => Load(CertificatePrefix, CertificateJson.FromStored);

    /// <summary>Returns all tokens.</summary>
    public IReadOnlyList<TokenEntry> Tokens() => Load(TokenPrefix, TokenJson.FromStored);

    /// <summary>Stores new or changed certificates and deletes others, in one commit. Durable on completion.</summary>
    public Task SaveAsync(IEnumerable<CertificateEntry> put, IEnumerable<CertificateEntry> removed) => SaveAsync(
        put.Select(static entry => (CertificatePrefix + entry.Fingerprint, CertificateJson.ToStored(entry))),
        removed.Where(static entry => !entry.IsWellKnown).Select(static entry => CertificatePrefix + entry.Fingerprint));

    /// <summary>Same as above, for tokens.</summary>
    public Task SaveAsync(IEnumerable<TokenEntry> put, IEnumerable<TokenEntry> removed) => SaveAsync(
        put.Select(static entry => (TokenPrefix + entry.Id, TokenJson.ToStored(entry))),
        removed.Select(static entry => TokenPrefix + entry.Id));

    public void Dispose() => _database.Dispose();

    private List<T> Load<T>(string prefix, Func<JsonElement, T> read)
    {
        var entries = new List<T>();
        using DatabaseSnapshot snapshot = _database.BeginRead();
        using DocumentCursor cursor = snapshot.ByPrefix(new DocumentPrefix { StartsWith = prefix });
        while (cursor.MoveNext())
        {
            using var document = JsonDocument.Parse(cursor.Current.Body.ToArray());
            entries.Add(read(document.RootElement));
        }

        return entries;
    }

    private async Task SaveAsync(IEnumerable<(string Id, byte[] Json)> put, IEnumerable<string> removed)
    {
        using var batch = new WriteBatch();
        foreach ((string id, byte[] json) in put)
            batch.Put(id, json);
        foreach (string id in removed)
            batch.Delete(id);
        await _database.WriteAsync(batch, CancellationToken.None).ConfigureAwait(false);
    }
}
