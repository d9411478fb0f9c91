namespace Treepie.Storage;

/// <summary>When a write is acknowledged.</summary>
public enum Durability
{
    /// <summary>After the journal record is on the disk.</summary>
    Durable,

    /// <summary>At once; on the disk a little later, always as a consistent whole. For what can be built again.</summary>
    Relaxed,
}
