namespace Treepie;

/// <summary>
/// Rules of database names: 1 to 128 ASCII letters, digits, <c>_</c>, <c>-</c> and <c>.</c>, with no dot at either end, and none
/// of the names that Windows keeps for devices. So every name is the name of a folder on every system, none leads out of the
/// folder it stands in, and none looks like another. Equal without case.
/// </summary>
internal static class DatabaseName
{
    private const int MaxLength = 128;

    /// <summary>Names of devices on Windows, whatever follows them behind a dot; COM and LPT with a digit besides.</summary>
    private static readonly string[] _devices = ["CON", "PRN", "AUX", "NUL"];

    /// <summary>
    /// Whether a folder may be a database: also under names that older versions took and that are refused for new ones.
    /// </summary>
    public static bool IsFolder(string name)
    {
        if (name.Length is 0 or > MaxLength || name.Trim('.').Length == 0)
            return false;
        foreach (char unit in name)
            if (!char.IsLetterOrDigit(unit) && unit is not ('_' or '-' or '.'))
                return false;
        return true;
    }

    /// <summary>Refuses what cannot be the name of a new database.</summary>
    /// <exception cref="ArgumentException">Says what a name may hold.</exception>
    public static void Check(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (name.Length is 0 or > MaxLength || !name.All(static c => char.IsAsciiLetterOrDigit(c) || c is '_' or '-' or '.'))
            throw Refused(
                name,
                $"a name has 1 to {MaxLength} letters from A to Z, digits, '_', '-' and '.'; other letters look too much like "
                    + $"these");
        if (name[0] == '.' || name[^1] == '.')
            throw Refused(name, "a name neither begins nor ends with a dot");
        if (IsDevice(name.Split('.')[0]))
            throw Refused(name, "Windows keeps this name for a device, so the files could not be moved there");
    }

    private static bool IsDevice(string stem) =>
        _devices.Contains(stem, StringComparer.OrdinalIgnoreCase)
        || (stem.Length == 4 && char.IsAsciiDigit(stem[3])
            && (stem.StartsWith("COM", StringComparison.OrdinalIgnoreCase)
                || stem.StartsWith("LPT", StringComparison.OrdinalIgnoreCase)));

    private static ArgumentException Refused(string name, string why) =>
        new($"'{name}' cannot be the name of a database: {why}.", nameof(name));
}
