namespace Treepie;

/// <summary>
/// Rules of database names: 1 to 128 letters, digits, <c>_</c>, <c>-</c> and <c>.</c>, not only dots. So every name is the name of a
/// folder on every system, and none leads out of the folder it stands in. Equal without case.
/// </summary>
internal static class DatabaseName
{
    private const int MaxLength = 128;

    /// <summary>Whether a text can be the name of a database.</summary>
    public static bool IsValid(string name)
    {
        if (name.Length is 0 or > MaxLength || name.Trim('.').Length == 0)
            return false;
        foreach (char unit in name)
            if (!char.IsLetterOrDigit(unit) && unit is not ('_' or '-' or '.'))
                return false;
        return true;
    }

    /// <summary>Refuses what cannot be the name of a database.</summary>
    /// <exception cref="ArgumentException">Says what a name may hold.</exception>
    public static void Check(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (!IsValid(name))
        {
            throw new ArgumentException(
                $"'{name}' cannot be the name of a database: a name has 1 to {MaxLength} letters, digits, '_', '-' and '.', and not only dots.", nameof(name));
        }
    }
}
