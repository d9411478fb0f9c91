using System.Text.Json;

namespace Treepie.Indexes.Grouping;

/// <summary>A value of a document, and the elements of arrays it was found in.</summary>
/// <param name="Value">The value; undefined where nothing stands at the path.</param>
/// <param name="Elements">Of each array on the way, from the outermost: its path, and which of its elements.</param>
internal readonly record struct FoundValue(JsonElement Value, IReadOnlyList<(string Array, int Element)> Elements)
{
    /// <summary>All values of a document, where these together are one.</summary>
    public List<FoundValue>? Content { get; init; }

    /// <summary>Whether no array has given the one of one element and the other of another.</summary>
    public bool GoesWith(FoundValue other)
    {
        int common = Math.Min(Elements.Count, other.Elements.Count);
        for (int i = 0; i < common && Elements[i].Array == other.Elements[i].Array; i++)
            if (Elements[i].Element != other.Elements[i].Element)
                return false;
        return true;
    }
}
