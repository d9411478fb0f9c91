namespace Treepie.Indexing.Schema;

/// <summary>The fields of an index, in the order in which entries refer to them.</summary>
/// <param name="Fields">The fields, with distinct names.</param>
public sealed record IndexSchema(IReadOnlyList<IndexField> Fields)
{
    /// <summary>
    /// The name of the boost field: if a schema has it, the score of an entry is multiplied by the entry's first number in it,
    /// which must be greater than 0.
    /// </summary>
    public const string BoostField = "@boost";

    /// <summary>Returns the position of a field by its (case-sensitive) name, or -1.</summary>
    public int IndexOf(string name)
    {
        for (int i = 0; i < Fields.Count; i++)
            if (string.Equals(Fields[i].Name, name, StringComparison.Ordinal))
                return i;

        return -1;
    }
}
