using Treepie.Computations;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>Combines several maps of one index: each maps the documents of its own collections.</summary>
internal sealed class MapSet : IndexMap
{
    private readonly IReadOnlyList<IndexMap> _maps;

    public MapSet(IReadOnlyList<IndexMap> maps)
    {
        _maps = maps;
        Collections = maps.Any(static map => map.Collections.Count == 0)
            ? []
            : [.. maps.SelectMany(static map => map.Collections).Distinct(StringComparer.OrdinalIgnoreCase)];
        Fields = [.. maps.SelectMany(static map => map.Fields).DistinctBy(static field => field.Name)];
        Copied = [.. Fields.Select(static field => field.Name).Where(name => maps.All(map => map.Copied.Contains(name)))];
        LoadedCollections = [.. maps.SelectMany(static map => map.LoadedCollections).Distinct(StringComparer.OrdinalIgnoreCase)];
    }

    public override IReadOnlyList<string> Collections { get; }

    public override IReadOnlyList<MappedField> Fields { get; }

    public override IReadOnlyCollection<string> Copied { get; }

    public override IReadOnlyList<string> LoadedCollections { get; }

    public override IndexSourceType Source => _maps.Count > 0 ? _maps[0].Source : IndexSourceType.Documents;

    public override bool LoadsCompareExchange => _maps.Any(static map => map.LoadsCompareExchange);

    public override bool HasBoost => _maps.Any(static map => map.HasBoost);

    public override bool IsOpen => _maps.Any(static map => map.IsOpen);

    public override bool HasDynamicFields => _maps.Any(static map => map.HasDynamicFields);

    public override bool IsSingle => _maps is [{ IsSingle: true }];

    public override void Map(Document document, IMapHost host, MapOutput output)
    {
        foreach (IndexMap map in _maps)
            if (map.Covers(document.CollectionName, host.BesideName))
                map.Map(document, host, output);
    }

    public override bool Covers(string collection, string? besideName) =>
        _maps.Any(map => map.Covers(collection, besideName));
}
