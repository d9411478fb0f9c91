using System.Collections.Frozen;
using Treepie.Kinds;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Packing;

/// <summary>With which dictionary documents of which collection are packed from now on. Never changes.</summary>
internal sealed class PackingPlan(FrozenDictionary<string, BodyDictionary> dictionaries)
{
    /// <summary>What is configured and trained in a snapshot.</summary>
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
                // It is lost: who reads what was packed with it is told so, and what is written now stays as it is.
            }
        }

        return new PackingPlan(found.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase));
    }

    /// <summary>The dictionary of a collection; null where it is not packed.</summary>
    public BodyDictionary? DictionaryOf(CollectionName collection) => DictionaryOf(collection.Text);

    /// <summary>The same.</summary>
    public BodyDictionary? DictionaryOf(string collection) => dictionaries.GetValueOrDefault(collection);
}
