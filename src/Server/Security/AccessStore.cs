using System.Text.Json;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Security;

/// <summary>
/// Where the server keeps the certificates and tokens it knows: documents in a database of its own, <c>system</c> beside the
/// folder of the others, which no request reaches. So they are durable and checked as all else is. There are no secrets among
/// them: certificates are public, their keys are with their holders, and of tokens hashes are kept.
/// </summary>
internal sealed class AccessStore : IDisposable
{
    private const string FolderName = "system";
    private const string CertificatePrefix = "certificates/";
    private const string TokenPrefix = "tokens/";

    private readonly Database _database;

    /// <exception cref="TreepieException">It cannot be opened.</exception>
    public AccessStore(string dataDirectory) =>
        _database = Database.Open(Path.Combine(dataDirectory, FolderName), new DatabaseOptions { Name = FolderName });

    /// <summary>Whether there is one in a data directory.</summary>
    public static bool Exists(string dataDirectory) => Directory.Exists(Path.Combine(dataDirectory, FolderName));

    /// <summary>All certificates.</summary>
    public IReadOnlyList<CertificateEntry> Certificates() => Load(CertificatePrefix, CertificateJson.FromStored);

    /// <summary>All tokens.</summary>
    public IReadOnlyList<TokenEntry> Tokens() => Load(TokenPrefix, TokenJson.FromStored);

    /// <summary>Keeps certificates, new or changed, and forgets others, in one commit. Durable when the task ends.</summary>
    public Task SaveAsync(IEnumerable<CertificateEntry> put, IEnumerable<CertificateEntry> removed) => SaveAsync(
        put.Select(static entry => (CertificatePrefix + entry.Fingerprint, CertificateJson.ToStored(entry))),
        removed.Where(static entry => !entry.IsWellKnown).Select(static entry => CertificatePrefix + entry.Fingerprint));

    /// <summary>As with certificates, for tokens.</summary>
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
