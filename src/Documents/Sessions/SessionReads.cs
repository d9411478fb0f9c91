using Treepie.Queries;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// What a session has read and its save verifies, besides the entities that it tracks. In a transaction, all reads are of one
/// snapshot, so that the work never sees half of somebody's change, and everything that was read is verified: documents by their
/// change vectors, queries over one collection by its last change, prefixes of ids by changes of documents with them, and all
/// else by the last change of the database.
/// </summary>
internal sealed class SessionReads(ISessionHost database, int most, bool isTransaction) : IDisposable
{
    /// <summary>The maximum number of prefixes, each of which is verified by itself: of more any change counts.</summary>
    private const int MostPrefixes = 16;

    private readonly Dictionary<string, string> _documents = new(IdComparer.Instance);
    private readonly HashSet<string> _collections = new(StringComparer.OrdinalIgnoreCase);
    private readonly HashSet<string> _prefixes = new(IdComparer.Instance);
    private bool _isEverything;
    private DatabaseSnapshot? _snapshot;

    public bool IsTransaction => isTransaction;

    public DatabaseSnapshot Begin() =>
        isTransaction ? (_snapshot ??= database.BeginRead()).BeginSame() : database.BeginRead();

    /// <summary>Notes the state of a document that the session does not track; empty: it does not exist.</summary>
    public void Note(string id, string changeVector)
    {
        _documents[id] = changeVector;
        if (!isTransaction || _documents.Count <= most)
            return;
        _documents.Clear(); // there is no room for all: any change counts
        _isEverything = true;
    }

    /// <summary>Notes that documents were read by the start of their ids, one of which may be added.</summary>
    public void NotePrefix(string prefix)
    {
        if (!isTransaction)
            return;
        if (prefix.Length == 0 || _prefixes.Count == MostPrefixes)
            _isEverything = true;
        else
            _prefixes.Add(prefix);
    }

    /// <summary>Notes that something was read that no document or collection stands for.</summary>
    public void NoteEverything() => _isEverything |= isTransaction;

    /// <summary>Executes a query over the state that the transaction sees.</summary>
    /// <exception cref="ConcurrencyException">What the query reads was changed since the first read.</exception>
    public async Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken)
    {
        if (isTransaction)
            request = request with { NeverStale = true, WaitForNonStaleResults = false };
        QueryResults results = await database.QueryAsync(request, cancellationToken).ConfigureAwait(false);
        if (!isTransaction)
            return results;
        _snapshot ??= results.Snapshot.BeginSame();
        string? collection = results.OnlyCollection;
        if (Etag(results.Snapshot, collection) is var actual && Etag(_snapshot, collection) is var expected && actual != expected)
        {
            results.Dispose();
            throw LastChange.Conflict(collection, expected, actual);
        }

        if (collection is null)
            _isEverything = true;
        else
            _collections.Add(collection);
        return results;
    }

    /// <summary>Returns the snapshot that what a query's rows refer to is read from.</summary>
    public DatabaseSnapshot Beside(DatabaseSnapshot results) => _snapshot ?? results;

    /// <summary>Adds what the save must verify to its batch.</summary>
    public void Require(WriteBatch batch)
    {
        if (_isEverything)
            batch.RequireUnchanged(null, Snapshot.LastEtag);
        foreach (string prefix in _prefixes)
            batch.RequireUnchangedPrefix(prefix, Snapshot.LastEtag);
        foreach (string collection in _collections)
            batch.RequireUnchanged(collection, Etag(Snapshot, collection));
        foreach ((string id, string changeVector) in _documents)
            batch.Require(id, changeVector);
    }

    /// <summary>Forgets all reads: they are verified and saved, or discarded.</summary>
    public void Dispose()
    {
        _documents.Clear();
        _collections.Clear();
        _prefixes.Clear();
        _isEverything = false;
        _snapshot?.Dispose();
        _snapshot = null;
    }

    private DatabaseSnapshot Snapshot => _snapshot ??= database.BeginRead(); // everything is noted after a read, which opened it

    private static long Etag(DatabaseSnapshot snapshot, string? collection) =>
        collection is null ? snapshot.LastEtag : snapshot.Collection(collection)?.LastEtag ?? 0;
}
