using System.Text.Json;

namespace Treepie.Indexes;

/// <summary>
/// Settings of an index that are not part of its definition, so that changing them does not rebuild it. As durable as documents.
/// Immutable.
/// </summary>
public sealed record IndexSettings
{
    /// <summary>Whether the definition may be replaced.</summary>
    public IndexLockMode LockMode { get; init; }

    /// <summary>The order in which indexes run if more have work than may run concurrently.</summary>
    public IndexPriority Priority { get; init; } = IndexPriority.Normal;

    /// <summary>Whether indexing is disabled, persistently. A disabled index still answers queries, from what it has
    /// processed.</summary>
    public bool IsDisabled { get; init; }

    /// <summary>Writes the settings as members of an open object, under RavenDB's names.</summary>
    internal void WriteTo(Utf8JsonWriter json)
    {
        json.WriteString("LockMode"u8, LockMode.ToString());
        json.WriteString("Priority"u8, Priority.ToString());
        json.WriteString("State"u8, IsDisabled ? "Disabled"u8 : "Normal"u8);
    }
}

/// <summary>What happens to a changed definition that is submitted for an existing static index.</summary>
public enum IndexLockMode
{
    /// <summary>The definition replaces the existing one.</summary>
    Unlock,

    /// <summary>The definition is silently ignored.</summary>
    LockedIgnore,

    /// <summary>The definition is rejected with an error.</summary>
    LockedError,
}

/// <summary>The order in which indexes run that wait for their turn.</summary>
public enum IndexPriority
{
    /// <summary>After all others.</summary>
    Low,

    /// <summary>The default.</summary>
    Normal,

    /// <summary>Before all others.</summary>
    High,
}
