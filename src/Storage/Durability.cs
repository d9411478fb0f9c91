namespace Treepie.Storage;

/// <summary>When a write is acknowledged.</summary>
public enum Durability
{
    /// <summary>When the journal record is on disk.</summary>
    Durable,

    /// <summary>Immediately; on disk a little later, always in a consistent state. For data that can be rebuilt.</summary>
    Relaxed,
}
