using Treepie.Indexing.Columns;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>What the entries of a batch put into one field. Owners are places of entries in the batch.</summary>
internal sealed class BatchField
{
    public readonly record struct SortValue(int Owner, SortTag Tag, int Ordinal);

    public readonly record struct Length(int Owner, int Terms);

    /// <summary>A point, or a shape as its record.</summary>
    public readonly record struct Place(int Owner, GridPoint Point, byte[]? Shape);

    /// <summary>Terms, the text forms of numbers included.</summary>
    public TermTable Terms { get; } = new();

    /// <summary>Numbers as keys.</summary>
    public TermTable Numbers { get; } = new();

    /// <summary>Entries that have the field.</summary>
    public List<int> Exists { get; } = [];

    /// <summary>Entries in which it has a null.</summary>
    public List<int> Nulls { get; } = [];

    /// <summary>First value of each entry; ordinals are of <see cref="Terms"/> or <see cref="Numbers"/>.</summary>
    public List<SortValue> SortValues { get; } = [];

    /// <summary>Full text: terms of each entry, repetitions counted.</summary>
    public List<Length> Lengths { get; } = [];

    /// <summary>Full text: where the next value of an entry begins. A later entry begins at 0.</summary>
    public (int Owner, int Position) NextPosition { get; set; } = (-1, 0);

    /// <summary>Vectors, owners ascending.</summary>
    public List<(int Owner, float[] Numbers)> Vectors { get; } = [];

    /// <summary>Spatial: the values, owners ascending.</summary>
    public List<Place> Places { get; } = [];

    /// <summary>Whether an entry has more than one value.</summary>
    public bool HasSeveralValues { get; set; }

    /// <summary>Whether a sort value is a text.</summary>
    public bool HasTextValue { get; set; }

    public void Clear()
    {
        Terms.Clear();
        Numbers.Clear();
        Exists.Clear();
        Nulls.Clear();
        SortValues.Clear();
        Lengths.Clear();
        Places.Clear();
        Vectors.Clear();
        NextPosition = (-1, 0);
        HasSeveralValues = false;
        HasTextValue = false;
    }
}
