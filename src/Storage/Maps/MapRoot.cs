using Treepie.Storage.Format;

namespace Treepie.Storage.Maps;

/// <summary>A map of a transaction as the transaction knows it, whatever its keys and values are.</summary>
public abstract class MapRoot
{
    private protected MapRoot(string name) => Name = name;

    /// <summary>The name it was opened by.</summary>
    public string Name { get; }

    /// <summary>Where it is now.</summary>
    internal abstract TreeRecord Record { get; }

    /// <summary>Frees every page; the map may not be used afterwards.</summary>
    internal abstract void Drop();

    /// <summary>Lets no change through any more.</summary>
    internal abstract void End();
}
