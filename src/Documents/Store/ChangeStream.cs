using System.Runtime.CompilerServices;
using System.Text;

namespace Treepie.Store;

/// <summary>
/// Streams changes from the change log as they become durable. Holds no snapshot while its reader works, and at most
/// <see cref="MostChanges"/> changes: a slow reader costs nothing, and sees only the last change of a document that was written
/// often.
/// </summary>
internal static class ChangeStream
{
    /// <summary>The maximum number of changes in memory.</summary>
    private const int MostChanges = 1024;

    /// <summary>The maximum number of changes examined in one snapshot.</summary>
    private const int MostLooked = 16 * 1024;

    public static async IAsyncEnumerable<DocumentChange> ReadAsync(
        Func<DatabaseSnapshot> beginRead, ChangeSignal signal, long afterEtag, ChangesOptions options,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var changes = new List<DocumentChange>();
        while (await IsThereMoreAsync(signal, afterEtag, cancellationToken).ConfigureAwait(false))
        {
            changes.Clear();
            using (DatabaseSnapshot snapshot = beginRead())
                afterEtag = Read(snapshot, afterEtag, options, changes);
            foreach (DocumentChange change in changes)
            {
                cancellationToken.ThrowIfCancellationRequested();
                yield return change;
            }
        }
    }

    /// <summary>Waits for more changes; returns false if the database is closed.</summary>
    private static async ValueTask<bool> IsThereMoreAsync(
        ChangeSignal signal, long afterEtag, CancellationToken cancellationToken)
    {
        try
        {
            await signal.WaitAsync(afterEtag, cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (ObjectDisposedException)
        {
            return false;
        }
    }

    /// <summary>Adds the changes after an etag, and returns the etag of the last change examined.</summary>
    private static long Read(DatabaseSnapshot snapshot, long afterEtag, ChangesOptions options, List<DocumentChange> changes)
    {
        using ChangeFeed feed = snapshot.Changes(options.Collection, afterEtag);
        for (int looked = 0; feed.MoveNext(); looked++)
        {
            if (looked == MostLooked || changes.Count == MostChanges)
                return afterEtag;
            afterEtag = feed.Etag;
            string id = Encoding.UTF8.GetString(feed.Id);
            if ((options.DocumentId is { } own && !id.Equals(own, StringComparison.OrdinalIgnoreCase))
                || (options.IdPrefix is { } prefix && !id.StartsWith(prefix, StringComparison.OrdinalIgnoreCase)))
                continue;
            changes.Add(new DocumentChange(id, Encoding.UTF8.GetString(feed.Collection), feed.Etag, feed.IsTombstone));
        }

        return Math.Max(afterEtag, snapshot.LastEtag); // the remaining etags are of related data or other collections
    }
}
