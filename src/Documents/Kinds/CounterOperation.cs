namespace Treepie.Kinds;

/// <summary>What is done to one counter.</summary>
public enum CounterOperationKind
{
    /// <summary>Adds to it; makes it if it is new.</summary>
    Increment,

    /// <summary>Deletes it.</summary>
    Delete,

    /// <summary>Only asks for it.</summary>
    Get,

    /// <summary>Sets what this database counted of it.</summary>
    Put,
}

/// <summary>One operation on a counter of a document.</summary>
/// <param name="Kind">What.</param>
/// <param name="Name">The counter's name, UTF-8.</param>
/// <param name="Delta">What is added, or the value it is set to.</param>
public readonly record struct CounterOperation(CounterOperationKind Kind, ReadOnlyMemory<byte> Name, long Delta)
{
    /// <summary>Checks a name from outside.</summary>
    /// <exception cref="InvalidDocumentException">It cannot be one.</exception>
    public static CounterOperation Of(CounterOperationKind kind, string? name, long delta) =>
        new(kind, Store.KindNames.Encode("a counter", name), delta);
}
