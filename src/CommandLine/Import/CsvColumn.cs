namespace Treepie.CommandLine.Import;

/// <summary>A column of a CSV file, or an object that columns of names with dots are members of.</summary>
/// <param name="name">Its name within the object it is a member of.</param>
internal sealed class CsvColumn(string name)
{
    private readonly List<CsvColumn> _members = [];

    public string Name => name;

    /// <summary>Which cell of a row has its value; null of an object.</summary>
    public int? Cell { get; private set; }

    /// <summary>The members of an object, in the order of the columns.</summary>
    public IReadOnlyList<CsvColumn> Members => _members;

    /// <summary>The object that all columns together are.</summary>
    /// <exception cref="InvalidDataException">A name is empty or stands twice, or names both a value and an object.</exception>
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
        $"the first row names the columns, and '{name}' is empty in a part, stands twice, or names both a value and an object");
}
