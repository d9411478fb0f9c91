using System.Collections.Frozen;
using static Treepie.Rql.QueryPlaces;

namespace Treepie.Rql;

/// <summary>
/// What people know from other languages and write here, and what to write instead: the table from which the parser and the
/// binders advise. An advice continues "There is no '…': ", or is a sentence of its own if it begins with a capital letter. In it
/// stand for the query's own words: {word} what was written, {field} the operand before it (of a call, its first argument),
/// {value} what comes after it, {stem} the same without wildcards of other languages, {rest} the rest of the query.
/// </summary>
internal static class OtherLanguages
{
    private const string InScripts =
        "values are computed in scripts, as in from Orders as o select { Double: o.Freight * 2 }, in 'where' by a declared "
            + "function, or in the map of an index";

    private const string OneSource =
        "a query has one source; several collections are from @all_docs where @metadata.@collection in ('Orders', 'Companies')";

    private const string Now = "give the time as a parameter, as in At > $now";

    private static readonly (QueryPlaces Places, string Words, string Advice)[] _rows =
    [
        (Beginning, "select", "a query begins with 'from', as in from Orders select Company"),
        (Beginning, "delete", "send '{rest}' as DELETE queries, or give it to DeleteByQuery"),
        (Clause | BeforeClause, "delete", "send the query without it as DELETE queries, or give it to DeleteByQuery"),
        (Beginning, "update", "write from Orders update { this.Freight = 1; }"),
        (Beginning, "insert, replace, upsert, merge", "documents are stored by PUT docs, a bulk insert or a session"),
        (Beginning, "with, match", "Graph queries ('with', 'match') are not part of this language"),

        (Clause | BeforeClause, "having",
            "conditions on groups are in 'where', after 'group by': from Orders group by Company where count() > 1"),
        (Clause | BeforeClause, "join, inner, left, right, outer, full, cross, unnest",
            "related documents are loaded, as in from Orders as o load o.Company as c select o.Freight, c.Name"),
        (Source, ",", OneSource),
        (Source, "/, .",
            "A name with characters other than letters, digits, '_', '-' and '@' is in quotes: from index 'Orders/ByCity'"),
        (Clause | BeforeClause, "union, except, minus", OneSource),
        (Clause | BeforeClause, "top", "write limit {value} at the end of the query"),
        (Clause | BeforeClause, "take", "write limit {value}"),
        (Clause | BeforeClause, "skip", "write offset {value}"),
        (Clause | BeforeClause, "fetch, page", "write limit 5, or limit 5 offset 10"),
        (Clause | BeforeClause, "orderby, sort, sortby", "write order by Freight desc"),
        (Clause | BeforeClause, "groupby", "write group by Company"),
        (Clause | BeforeClause, "set", "write update { this.Freight = 1; }"),
        (Clause, "from", "a query has one 'from', at its beginning: from Orders select Company"),
        (Clause, ";", "a query ends without it"),
        (Clause | BeforeClause | BeforeSelected | BeforeClosing, "distinct, unique",
            "it comes after 'select', as in select distinct Company"),
        (BeforeClause, "all", "leave it out: select {value}"),
        (BeforeClause, "asc, desc, ascending, descending", "it comes after the field: order by {value} {word}"),
        (Clause, "long, double, alphanumeric, as long, as double, as string, as alphanumeric",
            "a type comes after the field and before the direction: order by Freight as double desc"),
        (BeforeClause, "exists, search, startswith, endswith, regex", "a condition comes after 'where'"),
        (BeforeClause, "new, interval", "a time is a text, as in At > '2020-01-01'"),
        (BeforeOperator, "exists", "write exists({value})"),
        (BeforeOperator, "search, startswith, endswith, regex", "write {word}({value}, 'text')"),
        (BeforeOperator, "any, all", "a field of an array is equal if one element is: write {value} = 'text'"),
        (BeforeOperator | BeforeClause, "case", InScripts),

        (Operator, "is not", "write {field} != {value}"),
        (Operator, "is missing", "write true and not exists({field})"),
        (Operator, "is", "write {field} = {value}"),
        (Operator, "not in", "write true and not {field} in (…)"),
        (Operator, "not between", "write true and not {field} between … and …"),
        (Operator, "not like, not ilike", "write true and not startsWith({field}, {stem})"),
        (Operator | Call, "isnull, isnullorempty", "write {field} = null"),
        (Operator | Call, "notnull, isnotnull", "write {field} != null"),
        (Operator | Call, "exists", "write exists({field})"),
        (Operator | Call, "like, ilike, rlike",
            "write startsWith({field}, {stem}), endsWith({field}, {stem}) or regex({field}, {stem})"),
        (Operator | Call, "~, =~, $regex, similar to, regexp, regexp_like, match, matches", "write regex({field}, {value})"),
        (Operator | Call, "startswith, starts with, beginswith, begins with", "write startsWith({field}, {value})"),
        (Operator | Call, "endswith, ends with", "write endsWith({field}, {value})"),
        (Operator, "contains all", "write {field} all in ('a', 'b')"),
        (Operator | Call, "contains, containsany, includes, has, any, overlaps",
            "write {field} = {value} for an element of an array, search({field}, {value}) for a word, or regex({field}, {value}) "
                + "for a part of a text"),
        (Operator | Call, "===, :, :=, eq, $eq, equals", "write {field} = {value}"),
        (Operator | Call, "!==, ne, neq, $ne", "write {field} != {value}"),
        (Operator | Call, "=>, ge, gte, $gte", "write {field} >= {value}"),
        (Operator | Call, "=<, le, lte, $lte", "write {field} <= {value}"),
        (Operator | Call, "gt, $gt", "write {field} > {value}"),
        (Operator | Call, "lt, $lt", "write {field} < {value}"),
        (Call, "in", "write {field} in ({value})"),
        (Operator, "$in", "write {field} in (1, 2)"),
        (Operator | Clause | Closing, "*, /, +, -, %", $"There is no arithmetic outside of scripts: {InScripts}"),
        (Call, "abs, cast, ceil, ceiling, concat, convert, floor, mod, power, replace, round, sqrt, trim", InScripts),
        (Call, "lower, upper, lcase, ucase, tolower, toupper, tolowercase, touppercase",
            "texts are compared without case: write {field} = 'text', or exact({field} = 'Text') with case"),
        (Call, "len, strlen, size", "write length({field}) of a text, count({field}) of an array"),
        (Call, "substring, substr, indexof, charindex, left, right, mid",
            "write startsWith({field}, 'text') or regex({field}, 'text')"),
        (Call, "coalesce, ifnull, nvl", "write ({field} = {value} or {field} = null)"),
        (Call, "sum, avg, average, min, max",
            "write select facet({word}({field})) over all results, select facet(Company, {word}({field})) in groups"),
        (Call, "id", "write id() = {field}"),
        (Call, "datetime, datetimeoffset, timestamp, to_date, todate", "a time is a text: write {field}"),
        (Call | Field, "now, utcnow, getdate, getutcdate, today, sysdate, current_date, current_timestamp", Now),
        (Field, "@collection, @last-modified, @change-vector, @expires, @flags", "write @metadata.{word}"),
        (Field, "datetime.now, datetime.utcnow", Now),
        (Field, "id, _id, @id, documentid", "write id()"),
        (Field, "rownum, rowid, row_number", "write limit 10 at the end of the query"),
        (Field, "nil, none, undefined", "write null"),
        (Field, "length", "write length({field})"),
        (Field, "count, size", "write count({field})"),
        (Field, "year, month, day, hour, minute, second, date", "write {word}({field})"),

        (Name, "[, `", "names are in quotes: write '{value}'"),
        (Name, "{", "conditions are written as in Freight > 1 and Company = 'a'"),
        (Name, "-", "a name has no sign; descending is order by {value} desc"),
        (Value, "+", "a number has no plus: write {value}"),
        (Value, ":, ?, %", "the name of a parameter begins with '$': write $name"),
        (Value, "select",
            "there are no queries within queries: read the values first, and give them as a parameter: in ($values)"),
        (Argument, "*", "write count() or sum(Freight) after 'group by'; TotalResults is the number of all results"),
        (Member, "*", "write [] for all elements, as in Lines[].Product, and select o for the whole document"),
        (Anywhere, "!", "write 'true and not …'"),
        (Anywhere, "!~", "write true and not regex(Name, 'text')"),
        (Anywhere, "&&, &", "write 'and'"),
        (Anywhere, "||, |", "write 'or'"),
        (Anywhere, "--, #", "a comment begins with //"),
        (Anywhere, "->, ::", "the member of a member is written as in Address.City"),
        (Anywhere, "“, ”, „, ‘, ’", "quotes are ' and \""),
    ];

    private static readonly FrozenDictionary<string, (string Second, QueryPlaces Places, string Advice)[]> _byFirst =
        _rows.SelectMany(static row => row.Words.Split(", ").Select(words => (Words: words.Split(' '), row.Places, row.Advice)))
            .GroupBy(static row => row.Words[0], StringComparer.OrdinalIgnoreCase)
            .ToFrozenDictionary(
                static group => group.Key,
                static group => group
                    .Select(static row => (row.Words.ElementAtOrDefault(1) ?? "", row.Places, row.Advice))
                    .ToArray(),
                StringComparer.OrdinalIgnoreCase);

    /// <summary>Returns the advice for a word or sign in a place, and the word after it that belongs to it or "".</summary>
    /// <param name="word">The word.</param>
    /// <param name="place">The place.</param>
    /// <param name="next">Returns the word after it.</param>
    public static (string Advice, string Second)? For(ReadOnlySpan<char> word, QueryPlaces place, Func<string> next)
    {
        if (!_byFirst.GetAlternateLookup<ReadOnlySpan<char>>().TryGetValue(word, out var rows))
            return null;
        foreach ((string second, QueryPlaces places, string advice) in rows)
            if ((places & place) != 0 && (second.Length == 0 || RqlKeywords.Is(next(), second)))
                return (advice, second);

        return null;
    }
}
