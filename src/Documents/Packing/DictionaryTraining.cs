using Treepie.Compression;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Packing;

/// <summary>
/// Trains the dictionary of a collection on documents sampled evenly from it, first when there are enough of them, and again each
/// time the collection has grown eightfold.
/// </summary>
internal sealed class DictionaryTraining(IWriteHost host)
{
    private const int LeastDocuments = 64, MostSamples = 4_000, GrowthFactor = 8;

    private const long LeastBytes = 64 * 1024, MostSampledBytes = 8 << 20;

    /// <summary>Only this many bytes from the beginning of a longer document are used.</summary>
    private const int MostBytesOfOne = 16 * 1024;

    /// <summary>Trains a dictionary if it is due. Returns whether there is a new one.</summary>
    public async Task<bool> RunAsync(CollectionStatistics collection, CancellationToken cancellationToken)
    {
        if (collection.DocumentCount < LeastDocuments || collection.SizeBytes < LeastBytes)
            return false;
        int id;
        List<byte[]> samples;
        using (DatabaseSnapshot snapshot = host.BeginRead())
        {
            id = snapshot.FindCollection(collection.Name) ?? throw new InvalidOperationException("It was just listed.");
            if (PackingRecord.Find(snapshot.FindTree, id) is { } record
                && collection.DocumentCount / GrowthFactor < record.TrainedOn)
                return false;
            samples = Samples(snapshot, collection, cancellationToken);
        }

        byte[] dictionary = ZstdDictionary.Train(samples);
        if (dictionary.Length == 0)
            return false;
        return await host.WriteAsync(
            writer =>
            {
                if (!writer.TryPutDictionary(dictionary))
                    return false; // its number is in use; a later training makes another dictionary
                new PackingRecord(BodyDictionaries.NumberOf(dictionary), collection.DocumentCount, UpTo: 0).Put(
                    writer.GetOrCreateTree(TreeNames.Packing), id);
                writer.Save();
                return true;
            },
            cancellationToken).ConfigureAwait(false);
    }

    private static List<byte[]> Samples(
        DatabaseSnapshot snapshot, CollectionStatistics collection, CancellationToken cancellationToken)
    {
        var samples = new List<byte[]>();
        long step = Math.Max(1, collection.DocumentCount / MostSamples), bytes = 0;
        using DocumentCursor cursor = snapshot.ByCollection(collection.Name);
        for (long seen = 0; bytes < MostSampledBytes && cursor.MoveNext(); seen++)
        {
            if (seen % step != 0)
                continue;
            cancellationToken.ThrowIfCancellationRequested();
            ReadOnlySpan<byte> body = cursor.Current.Body;
            samples.Add(body[..Math.Min(body.Length, MostBytesOfOne)].ToArray());
            bytes += samples[^1].Length;
            snapshot.ReleasePages();
        }

        return samples;
    }
}
