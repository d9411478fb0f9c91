namespace Treepie.Indexing.Columns;

/// <summary>The type of an entry's sort value.</summary>
internal enum SortTag : byte
{
    /// <summary>No value: null or missing.</summary>
    None = 0,

    /// <summary>A number.</summary>
    Number = 1,

    /// <summary>The stored form of a term.</summary>
    Text = 2,
}
