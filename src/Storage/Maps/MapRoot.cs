using Treepie.Storage.Format;

namespace Treepie.Storage.Maps;

/// <summary>The common base of the maps of a transaction, independent of the types of keys and values.</summary>
public abstract class MapRoot
{
    private protected MapRoot(string name) => Name = name;

    /// <summary>The name of the map.</summary>
    public string Name { get; }

    /// <summary>The current record of the map.</summary>
    internal abstract TreeRecord Record { get; }

    /// <summary>Frees every page; the map may not be used afterwards.</summary>
    internal abstract void Drop();

    /// <summary>Prevents further changes.</summary>
    internal abstract void End();
}
