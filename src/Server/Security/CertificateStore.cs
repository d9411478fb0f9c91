using System.Text.Json;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Security;

/// <summary>
/// Where the server keeps the certificates it knows: documents in a database of its own, <c>system</c> beside the folder of the
/// others, which no request reaches. So they are durable and checked as all else is. There are no secrets among them:
/// certificates are public, and their keys are with their holders.
/// </summary>
internal sealed class CertificateStore : IDisposable
{
    private const string FolderName = "system";
    private const string Prefix = "certificates/";

    private readonly Database _database;

    /// <exception cref="TreepieException">It cannot be opened.</exception>
    public CertificateStore(string dataDirectory) =>
        _database = Database.Open(Path.Combine(dataDirectory, FolderName), new DatabaseOptions { Name = FolderName });

    /// <summary>Whether there is one in a data directory.</summary>
    public static bool Exists(string dataDirectory) => Directory.Exists(Path.Combine(dataDirectory, FolderName));

    /// <summary>All entries.</summary>
    public IReadOnlyList<CertificateEntry> Load()
    {
        var entries = new List<CertificateEntry>();
        using DatabaseSnapshot snapshot = _database.BeginRead();
        using DocumentCursor cursor = snapshot.ByPrefix(new DocumentPrefix { StartsWith = Prefix });
        while (cursor.MoveNext())
        {
            using var document = JsonDocument.Parse(cursor.Current.Body.ToArray());
            entries.Add(CertificateJson.FromStored(document.RootElement));
        }

        return entries;
    }

    /// <summary>Keeps entries, new or changed, and forgets others, in one commit. Durable when the task ends.</summary>
    public async Task SaveAsync(IEnumerable<CertificateEntry> put, IEnumerable<CertificateEntry> removed)
    {
        using var batch = new WriteBatch();
        foreach (CertificateEntry entry in put)
            batch.Put(Prefix + entry.Fingerprint, CertificateJson.ToStored(entry));
        foreach (CertificateEntry entry in removed.Where(static entry => !entry.IsWellKnown))
            batch.Delete(Prefix + entry.Fingerprint);
        await _database.WriteAsync(batch, CancellationToken.None).ConfigureAwait(false);
    }

    public void Dispose() => _database.Dispose();
}
