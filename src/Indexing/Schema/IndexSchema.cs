namespace Treepie.Indexing.Schema;

/// <summary>The fields of an index, in the order in which entries name them.</summary>
/// <param name="Fields">Fields with different names.</param>
public sealed record IndexSchema(IReadOnlyList<IndexField> Fields)
{
    /// <summary>Position of a field by its (case-sensitive) name, or -1.</summary>
    public int IndexOf(string name)
    {
        for (int i = 0; i < Fields.Count; i++)
            if (string.Equals(Fields[i].Name, name, StringComparison.Ordinal))
                return i;

        return -1;
    }
}
