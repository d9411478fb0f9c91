using System.Text.Json;

namespace Treepie.Indexes.Fields;

/// <summary>Receives the values that a <see cref="PathTree"/> finds.</summary>
internal interface IFieldSink
{
    /// <summary>
    /// Receives a string, number, boolean or null, the current token of the reader; a member's name for <c>$Keys</c>.
    /// </summary>
    void Value(int slot, ref Utf8JsonReader reader);

    /// <summary>
    /// Receives an object, with the reader at its start. The reader is a copy: its final position does not matter.
    /// </summary>
    void Object(int slot, ref Utf8JsonReader reader);

    /// <summary>Receives an array, with the reader at its start, before its elements one by one. The reader is a copy.</summary>
    void StartOfArray(int slot, ref Utf8JsonReader reader);

    /// <summary>Receives an array without elements.</summary>
    void EmptyArray(int slot);
}
