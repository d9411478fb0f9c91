using System.Diagnostics;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// What the entries of a batch add to one field. Owners are places of entries in the batch, and ascend in all lists.
/// </summary>
internal sealed class BatchField
{
    public readonly record struct SortValue(int Owner, SortTag Tag, int Ordinal);

    public readonly record struct Length(int Owner, int Terms);

    /// <summary>A point, or a shape in the form of its record.</summary>
    public readonly record struct Place(int Owner, GridPoint Point, byte[]? Shape);

    /// <summary>Terms, without the texts of numbers.</summary>
    public TermTable Terms { get; } = new();

    /// <summary>Whole values that are too long for a term, by the ordinal of their cut form in <see cref="Terms"/>.</summary>
    public Dictionary<int, byte[]> LongTexts { get; } = [];

    /// <summary>Numbers as keys.</summary>
    public TermTable Numbers { get; } = new();

    /// <summary>Entries that have the field.</summary>
    public List<int> Exists { get; } = [];

    /// <summary>Entries in which the field has a null.</summary>
    public List<int> Nulls { get; } = [];

    /// <summary>First value of each entry. Ordinals refer to <see cref="Terms"/> or <see cref="Numbers"/>.</summary>
    public List<SortValue> SortValues { get; } = [];

    /// <summary>Full text: number of terms of each entry, counting repetitions.</summary>
    public List<Length> Lengths { get; } = [];

    /// <summary>
    /// Full text: the first position of the next value of an entry. The positions of another entry start at 0.
    /// </summary>
    public (int Owner, int Position) NextPosition { get; set; } = (-1, 0);

    /// <summary>Vectors, owners ascending.</summary>
    public List<(int Owner, float[] Numbers)> Vectors { get; } = [];

    /// <summary>Spatial: the values, owners ascending.</summary>
    public List<Place> Places { get; } = [];

    /// <summary>Whether an entry has more than one value.</summary>
    public bool HasSeveralValues { get; set; }

    /// <summary>Whether a sort value is a text.</summary>
    public bool HasTextValue { get; set; }

    /// <summary>
    /// Whether what an entry has does not follow from its term: it is a text, several values, or was reported as inexact.
    /// </summary>
    public bool IsInexact { get; set; }

    /// <summary>Appends the content of another field.</summary>
    /// <param name="other">The other field.</param>
    /// <param name="firstOwner">The owner here that corresponds to owner 0 there.</param>
    /// <param name="terms">Receives the ordinal here for each ordinal of its terms.</param>
    /// <param name="numbers">Receives the ordinal here for each ordinal of its numbers.</param>
    /// <returns>Bytes that were counted there but not here, because both fields have the term.</returns>
    public long Append(BatchField other, int firstOwner, Span<int> terms, Span<int> numbers)
    {
        Debug.Assert(Exists.Count == 0 || Exists[^1] < firstOwner, "appended owners are after all others");
        long known = Terms.Append(other.Terms, firstOwner, terms, IndexBatch.BytesOfTerm);
        known += Numbers.Append(other.Numbers, firstOwner, numbers, IndexBatch.BytesOfTerm);
        foreach ((int ordinal, byte[] text) in other.LongTexts)
            LongTexts.TryAdd(terms[ordinal], text);
        foreach (int owner in other.Exists)
            Exists.Add(firstOwner + owner);
        foreach (int owner in other.Nulls)
            Nulls.Add(firstOwner + owner);
        foreach (SortValue value in other.SortValues)
            SortValues.Add(
                new SortValue(
                    firstOwner + value.Owner, value.Tag,
                    value.Tag == SortTag.Number ? numbers[value.Ordinal] : terms[value.Ordinal]));
        foreach (Length length in other.Lengths)
            Lengths.Add(new Length(firstOwner + length.Owner, length.Terms));
        foreach ((int owner, float[] vector) in other.Vectors)
            Vectors.Add((firstOwner + owner, vector));
        foreach (Place place in other.Places)
            Places.Add(place with { Owner = firstOwner + place.Owner });
        HasSeveralValues |= other.HasSeveralValues;
        HasTextValue |= other.HasTextValue;
        IsInexact |= other.IsInexact;
        return known;
    }

    /// <summary>Removes everything and releases buffers larger than <paramref name="keepBytes"/>.</summary>
    public void Clear(int keepBytes)
    {
        Terms.Clear(keepBytes);
        Numbers.Clear(keepBytes);
        LongTexts.Clear();
        Exists.Clear();
        Nulls.Clear();
        SortValues.Clear();
        Lengths.Clear();
        Places.Clear();
        Vectors.Clear();
        NextPosition = (-1, 0);
        HasSeveralValues = false;
        HasTextValue = false;
        IsInexact = false;
    }
}
