using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>Changes of documents whose ids have a prefix, found in the log of changes.</summary>
internal static class PrefixChange
{
    /// <summary>The maximum number of changes to check: after more, a change with the prefix is assumed.</summary>
    private const int MostLooked = 4_096;

    /// <summary>Returns the etag of a change after another one; null if there is none.</summary>
    /// <param name="etag">The etag after which changes count.</param>
    /// <param name="foldedPrefix">The prefix of the ids, folded.</param>
    /// <param name="documents">The folded ids of documents by etag.</param>
    /// <param name="tombstones">The deletions.</param>
    public static long? After(long etag, ReadOnlySpan<byte> foldedPrefix, Tree documents, TombstoneWriter tombstones)
    {
        if (tombstones.PurgedUpTo > etag)
            return tombstones.PurgedUpTo; // deletions are not known any more
        int looked = 0;
        using (var log = new LogReader(documents, null, etag))
            while (log.MoveNext())
                if (++looked > MostLooked || log.Value.StartsWith(foldedPrefix))
                    return log.Etag;
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        using var deletions = new LogReader(tombstones.ByEtag, null, etag);
        while (deletions.MoveNext())
        {
            int length = DocumentId.Fold(new TombstoneRecord(deletions.Value).Id, folded);
            if (++looked > MostLooked || folded[..length].StartsWith(foldedPrefix))
                return deletions.Etag;
        }

        return null;
    }
}
