namespace Treepie.Indexing.Schema;

/// <summary>The fields of an index, in the order in which entries name them.</summary>
/// <param name="Fields">Fields with different names.</param>
public sealed record IndexSchema(IReadOnlyList<IndexField> Fields)
{
    /// <summary>
    /// Name of a field that multiplies: in a schema that has it, the score of an entry is multiplied by the first number the
    /// entry has there, which has to be greater than 0.
    /// </summary>
    public const string BoostField = "@boost";

    /// <summary>Position of a field by its (case-sensitive) name, or -1.</summary>
    public int IndexOf(string name)
    {
        for (int i = 0; i < Fields.Count; i++)
            if (string.Equals(Fields[i].Name, name, StringComparison.Ordinal))
                return i;

        return -1;
    }
}
