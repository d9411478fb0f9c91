using System.Security.Cryptography;
using System.Text;
using Treepie.Indexes.Extraction;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Turns changes of documents into entries of a batch. A document that cannot be indexed is recorded as an error and
/// skipped. Not thread-safe.
/// </summary>
internal sealed class EntryWriter(FieldExtractor extractor, TimeProvider timeProvider)
{
    private readonly byte[] _key = new byte[DocumentId.MaxFoldedBytes];

    /// <summary>Adds the current change of a feed.</summary>
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
            // A value does not fit its field, such as an invalid geometry; the other fields are indexed.
            batch.EndEntry(document.IdText(), error.Message, timeProvider.GetUtcNow().UtcDateTime);
            return;
        }
        catch (Exception error) when (error is not OperationCanceledException and not OutOfMemoryException)
        {
            // A custom analyzer may throw anything: the error is recorded for this document, and the next one follows.
            Fail(batch, document.IdText(), error.Message);
            return;
        }

        batch.EndEntry();
    }

    /// <summary>
    /// Returns a substitute key for an id that is too long to be a key, so that its error can be found. No id starts with
    /// this byte.
    /// </summary>
    private static byte[] KeyOfTooLong(ReadOnlySpan<byte> id) => [0xFF, .. SHA256.HashData(id)];

    private void Fail(IndexBatch batch, string id, string message) =>
        batch.FailEntry(id, message, timeProvider.GetUtcNow().UtcDateTime);
}
