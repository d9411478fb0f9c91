namespace Treepie.Bench.Suites.Faster;

/// <summary>A durable map that is loaded without syncing each transaction, before it is opened as it is measured.</summary>
internal interface ILoadedApart
{
    /// <summary>Opens what loads; disposing it closes the map.</summary>
    IMapClient OpenToLoad();
}
