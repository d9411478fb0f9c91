using System.Security.Cryptography;
using System.Text;
using Treepie.Indexes.Extraction;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Turns changes of documents into entries of a batch. A document that cannot be indexed is noted and left out. Not thread-safe.
/// </summary>
internal sealed class EntryWriter(FieldExtractor extractor, TimeProvider timeProvider)
{
    private readonly byte[] _key = new byte[DocumentId.MaxFoldedBytes];

    /// <summary>Adds the change that a feed stands on.</summary>
    public void Add(MappedChanges feed, IndexBatch batch)
    {
        int length = DocumentId.Fold(feed.Id, _key);
        ReadOnlySpan<byte> key = length <= IndexBatch.MaxKeyBytes ? _key.AsSpan(0, length) : KeyOfTooLong(_key.AsSpan(0, length));
        if (feed.IsTombstone)
        {
            batch.Delete(key);
            return;
        }

        batch.BeginEntry(key);
        if (length > IndexBatch.MaxKeyBytes)
        {
            Fail(
                batch, Encoding.UTF8.GetString(feed.Id),
                $"its id in lower case has {length} bytes; an index takes {IndexBatch.MaxKeyBytes}.");
            return;
        }

        Document document = feed.Document;
        try
        {
            extractor.Extract(document, batch);
        }
        catch (Exception error) when (error is FormatException or InvalidGeometryException or InvalidVectorException)
        {
            // A value is not what its field is of, no place for instance; the others are there.
            batch.EndEntry(document.IdText(), error.Message, timeProvider.GetUtcNow().UtcDateTime);
            return;
        }
        catch (Exception error) when (error is not OperationCanceledException and not OutOfMemoryException)
        {
            // An analyzer may be somebody's own: whatever it throws is said of this document, and the next one follows.
            Fail(batch, document.IdText(), error.Message);
            return;
        }

        batch.EndEntry();
    }

    /// <summary>
    /// Stands for an id that cannot be a key, so that its error can be found again. No id begins with this byte.
    /// </summary>
    private static byte[] KeyOfTooLong(ReadOnlySpan<byte> id) => [0xFF, .. SHA256.HashData(id)];

    private void Fail(IndexBatch batch, string id, string message) =>
        batch.FailEntry(id, message, timeProvider.GetUtcNow().UtcDateTime);
}
