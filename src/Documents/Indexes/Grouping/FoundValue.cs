using System.Text.Json;

namespace Treepie.Indexes.Grouping;

/// <summary>A value of a document, and the array elements in which it was found.</summary>
/// <param name="Value">The value; undefined if there is none at the path.</param>
/// <param name="Elements">For each array on the path, from the outermost: its path, and the index of the element.</param>
internal readonly record struct FoundValue(JsonElement Value, IReadOnlyList<(string Array, int Element)> Elements)
{
    /// <summary>All values of a document, if together they are one key.</summary>
    public List<FoundValue>? Content { get; init; }

    /// <summary>Returns whether the two values are not from different elements of the same array.</summary>
    public bool GoesWith(FoundValue other)
    {
        int common = Math.Min(Elements.Count, other.Elements.Count);
        for (int i = 0; i < common && Elements[i].Array == other.Elements[i].Array; i++)
            if (Elements[i].Element != other.Elements[i].Element)
                return false;
        return true;
    }
}
