namespace Treepie.Rql;

/// <summary>
/// Finds which members of the document a selection in JavaScript names, as far as that is certain without running it: each
/// mention of the document must be followed by a member, so that no parameter or variable may have its name.
/// </summary>
internal static class ScriptMembers
{
    /// <summary>Returns the names of the members; empty if they are not certain.</summary>
    /// <param name="script">The script, in brackets.</param>
    /// <param name="document">The name that the document has in it.</param>
    public static IReadOnlyCollection<string> Of(string script, string document)
    {
        var names = new HashSet<string>(StringComparer.Ordinal);
        bool isCertain = true;
        ScriptScanner.FindEnd(script, 0, at =>
        {
            if (!isCertain || !IsName(script, at, document))
                return;
            (string? member, char next) = MemberAfter(script, at + document.Length);
            isCertain = member is not null && next != '=';
            if (isCertain && next != '(') // else a method, which is none of its members
                names.Add(member ?? "");
        });
        return isCertain ? names : [];
    }

    /// <summary>Whether a whole name stands at an offset, and not as a member of something else.</summary>
    private static bool IsName(string script, int at, string name) =>
        script.AsSpan(at).StartsWith(name, StringComparison.Ordinal)
        && !IsNamePart(script, at + name.Length)
        && !IsNamePart(script, at - 1)
        && script.AsSpan(0, at).TrimEnd() is (not [.., '.']) or [.., '.', '.', '.'];

    /// <summary>
    /// Returns the member that follows a name, or null if there is none, and what comes after it: '=' if it is assigned.
    /// </summary>
    private static (string? Member, char Next) MemberAfter(string script, int at)
    {
        at = AfterSpace(script, at);
        if (script.AsSpan(at).StartsWith("?.", StringComparison.Ordinal))
            at++;
        if (script[at] != '.')
            return (null, ' ');
        int from = at = AfterSpace(script, at + 1);
        while (IsNamePart(script, at))
            at++;
        string member = script[from..at];
        at = AfterSpace(script, at);
        bool isAssigned = script[at] == '=' && script[at + 1] != '=';
        return member.Length == 0 ? (null, ' ') : (member, isAssigned ? '=' : script[at] == '(' ? '(' : ' ');
    }

    // the closing bracket ends every search
    private static int AfterSpace(string script, int at)
    {
        while (at < script.Length - 1 && char.IsWhiteSpace(script[at]))
            at++;
        return at;
    }

    private static bool IsNamePart(string script, int at) =>
        at >= 0 && at < script.Length && (char.IsLetterOrDigit(script[at]) || script[at] is '_' or '$');
}
