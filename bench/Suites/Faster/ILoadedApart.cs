namespace Treepie.Bench.Suites.Faster;

/// <summary>A map that is loaded by larger transactions than it is measured with.</summary>
internal interface ILoadedApart
{
    /// <summary>Opens what loads.</summary>
    IMapClient OpenToLoad();
}
