using System.Text.Json;

namespace Treepie.Indexes.Fields;

/// <summary>Takes the values that a <see cref="PathTree"/> finds.</summary>
internal interface IFieldSink
{
    /// <summary>A string, number, boolean or null, on which the reader stands.</summary>
    void Value(int slot, ref Utf8JsonReader reader);

    /// <summary>
    /// An object, on whose start the reader stands. The reader is the sink's own: where it leaves it does not matter.
    /// </summary>
    void Object(int slot, ref Utf8JsonReader reader);

    /// <summary>
    /// An array, on whose start the reader stands, before its elements are given one by one. The reader is the sink's own.
    /// </summary>
    void StartOfArray(int slot, ref Utf8JsonReader reader);

    /// <summary>An array without elements.</summary>
    void EmptyArray(int slot);
}
