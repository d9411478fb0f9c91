using System.Collections.Frozen;
using Treepie.Kinds;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Packing;

/// <summary>Maps collections to the dictionaries with which their documents are compressed. Immutable.</summary>
internal sealed class PackingPlan(FrozenDictionary<string, BodyDictionary> dictionaries)
{
    /// <summary>Creates the plan from the configuration and the dictionaries in a snapshot.</summary>
    public static PackingPlan Of(
        DatabaseSnapshot snapshot, DocumentCompressionConfiguration configuration, BodyDictionaries dictionaries)
    {
        var found = new Dictionary<string, BodyDictionary>(StringComparer.OrdinalIgnoreCase);
        foreach (CollectionStatistics collection in snapshot.AllCollections())
        {
            if (!configuration.Includes(collection.Name)
                || PackingRecord.Find(snapshot.FindTree, snapshot.FindCollection(collection.Name)!.Value) is not { } record)
                continue;
            try
            {
                found[collection.Name] = dictionaries.Get(record.Dictionary, snapshot.FindTree);
            }
            catch (CorruptionException)
            {
                // The dictionary is lost. Reading documents compressed with it fails; new documents are stored uncompressed.
            }
        }

        return new PackingPlan(found.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase));
    }

    /// <summary>The dictionary of a collection, or null if it is not compressed.</summary>
    public BodyDictionary? DictionaryOf(CollectionName collection) => DictionaryOf(collection.Text);

    /// <summary>Same as above, by name.</summary>
    public BodyDictionary? DictionaryOf(string collection) => dictionaries.GetValueOrDefault(collection);
}
