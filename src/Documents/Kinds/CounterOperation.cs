namespace Treepie.Kinds;

/// <summary>Operations on counters.</summary>
public enum CounterOperationKind
{
    /// <summary>Adds to the counter; creates it if it does not exist.</summary>
    Increment,

    /// <summary>Deletes the counter.</summary>
    Delete,

    /// <summary>Returns the counter.</summary>
    Get,

    /// <summary>Sets this database's part of the counter.</summary>
    Put,
}

/// <summary>An operation on a counter of a document.</summary>
/// <param name="Kind">The operation.</param>
/// <param name="Name">The name of the counter, in UTF-8.</param>
/// <param name="Delta">The amount to add, or the value to set.</param>
public readonly record struct CounterOperation(CounterOperationKind Kind, ReadOnlyMemory<byte> Name, long Delta)
{
    /// <summary>Creates an operation after validating the name.</summary>
    /// <exception cref="InvalidDocumentException">The name is not valid.</exception>
    public static CounterOperation Of(CounterOperationKind kind, string? name, long delta) =>
        new(kind, Store.KindNames.Encode("a counter", name), delta);
}
