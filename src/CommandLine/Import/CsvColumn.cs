namespace Treepie.CommandLine.Import;

/// <summary>A column of a CSV file, or an object whose members are the columns with dotted names.</summary>
/// <param name="name">Name within the containing object.</param>
internal sealed class CsvColumn(string name)
{
    private readonly List<CsvColumn> _members = [];

    public string Name => name;

    /// <summary>Index of the cell with the value, or null for an object.</summary>
    public int? Cell { get; private set; }

    /// <summary>Members of an object, in column order.</summary>
    public IReadOnlyList<CsvColumn> Members => _members;

    /// <summary>Builds the object that holds all columns.</summary>
    /// <exception cref="InvalidDataException">A name is empty, is a duplicate, or names a value and an object.</exception>
    public static CsvColumn Of(IReadOnlyList<string> names)
    {
        var all = new CsvColumn("");
        for (int cell = 0; cell < names.Count; cell++)
        {
            CsvColumn at = all;
            foreach (string part in names[cell].Split('.'))
            {
                if (part.Length == 0 || at.Cell is not null)
                    throw Unusable(names[cell]);
                CsvColumn? known = at._members.Find(member => member.Name == part);
                if (known is null)
                    at._members.Add(known = new CsvColumn(part));
                at = known;
            }

            if (at.Cell is not null || at._members.Count > 0)
                throw Unusable(names[cell]);
            at.Cell = cell;
        }

        return all;
    }

    private static InvalidDataException Unusable(string name) => new(
        $"the first row names the columns, and '{name}' has an empty part, occurs twice, or names both a value and an object");
}
