using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// What people write who know other languages is refused in these words, at the place of the sign ». Where such a word is a
/// name, it remains one.
/// </summary>
public sealed class AdviceWordsTests : IAsyncLifetime
{
    private readonly Database _database = Database.OpenInMemory();

    public async ValueTask InitializeAsync() => await _database.PutAsync(
        "orders/1",
        """{"Company":"a","Freight":1,"At":"2024-01-01","take":1,"gt":2,"top":3,"exists":"x","like":4,"Tags":["a"]}""",
        "Orders");

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData(
        "»select Company from Orders",
        "'select' cannot stand here: a query begins with 'from', as in from Orders select Company.")]
    [InlineData(
        "from Orders select Company »from Orders",
        "'from' cannot stand here: a query has one 'from', at its beginning: from Orders select Company.")]
    [InlineData(
        "»delete from Orders where Freight > 1",
        "There is no 'delete': send 'from Orders where Freight > 1' as DELETE queries, or give it to DeleteByQuery.")]
    [InlineData("»update Orders set Freight = 1", "'update' cannot stand here: write from Orders update { this.Freight = 1; }.")]
    [InlineData("from Orders »set Freight = 1", "There is no 'set': write update { this.Freight = 1; }.")]
    [InlineData(
        "»insert into Orders values (1)", "There is no 'insert': documents are stored by PUT docs, a bulk insert or a session.")]
    [InlineData("from Orders »take 5", "There is no 'take': write limit 5.")]
    [InlineData("from Orders select »top 10 Company", "There is no 'top': write limit 10 at the end of the query.")]
    [InlineData("from Orders »skip 10", "There is no 'skip': write offset 10.")]
    [InlineData("from Orders »fetch first 5 rows only", "There is no 'fetch': write limit 5, or limit 5 offset 10.")]
    [InlineData(
        "from Orders limit 5 offset»",
        "Expected a number or a parameter after 'offset', as in limit 5 offset 10, but found the end of the query.")]
    [InlineData(
        "from Orders group by Company »having count() > 1",
        "There is no 'having': conditions on groups are in 'where', after 'group by': from Orders group by Company where "
            + "count() > 1.")]
    [InlineData(
        "from Orders as o »join Companies as c on o.Company = c.Name",
        "There is no 'join': related documents are loaded, as in from Orders as o load o.Company as c select o.Freight, "
            + "c.Name.")]
    [InlineData(
        "from Orders», Companies",
        "',' cannot stand here: a query has one source; several collections are from @all_docs where "
            + "@metadata.@collection in ('Orders', 'Companies').")]
    [InlineData(
        "from index Orders»/ByCity",
        "A name with characters other than letters, digits, '_', '-' and '@' is in quotes: from index 'Orders/ByCity'.")]
    [InlineData("from »[Orders]", "'[' cannot stand here: names are in quotes: write 'Orders'.")]
    [InlineData("from Orders where »[Company] = 'a'", "'[' cannot stand here: names are in quotes: write 'Company'.")]
    [InlineData("from Orders where Freight > 1»;", "';' cannot stand here: a query ends without it.")]
    [InlineData("from Orders »-- comment", "There is no '--': a comment begins with //.")]
    [InlineData("from Orders where Freight = 1 »&& Company = 'a'", "There is no '&&': write 'and'.")]
    [InlineData("from Orders where Freight = 1 »|| Company = 'a'", "There is no '||': write 'or'.")]
    [InlineData(
        "from Orders where Freight = 1 »where Company = 'a'",
        "'where' cannot stand here, or is given twice. Conditions are joined by 'and' or 'or'. Clauses stand in this "
            + "order: declare, from, group by, where, order by, load, filter, select (or update), include, limit, offset, "
            + "filter_limit.")]
    [InlineData("from Orders where »!exists(Company)", "There is no '!': write 'true and not …'.")]
    [InlineData("from Orders where »not Company = 'a'", "A condition cannot begin with 'not': write 'true and not …'.")]
    [InlineData("from Orders where Company »=== 'a'", "There is no '===': write Company = 'a'.")]
    [InlineData("from Orders where Company »!== 'a'", "There is no '!==': write Company != 'a'.")]
    [InlineData("from Orders where Freight »=> 1", "There is no '=>': write Freight >= 1.")]
    [InlineData("from Orders where Freight »=< 1", "There is no '=<': write Freight <= 1.")]
    [InlineData("from Orders where Freight »gt 1", "There is no 'gt': write Freight > 1.")]
    [InlineData("from Orders where Freight »lt 1", "There is no 'lt': write Freight < 1.")]
    [InlineData(
        "from Orders where »{ Freight: 1 }",
        "'{' cannot stand here: conditions are written as in Freight > 1 and Company = 'a'.")]
    [InlineData(
        "from Orders where »1 < Freight",
        "The sides are swapped: a field stands left of '<', its value right. Write 'Freight > 1'.")]
    [InlineData("from Orders where Company »is null", "There is no 'is': write Company = null.")]
    [InlineData("from Orders where Company »is not null", "There is no 'is not': write Company != null.")]
    [InlineData("from Orders where Company »is missing", "There is no 'is missing': write true and not exists(Company).")]
    [InlineData("from Orders where »exists Company", "'exists' cannot stand here: write exists(Company).")]
    [InlineData("from Orders »exists(Company)", "'exists' cannot stand here: a condition comes after 'where'.")]
    [InlineData(
        "from Orders where Company »like 'a%'",
        "There is no 'like': write startsWith(Company, 'a'), endsWith(Company, 'a') or regex(Company, 'a').")]
    [InlineData(
        "from Orders where Company »not like 'a%'", "There is no 'not like': write true and not startsWith(Company, 'a').")]
    [InlineData(
        "from Orders where »Company.StartsWith('a')",
        "There is no method 'Company.StartsWith()' for a condition: write startsWith(Company, 'a').")]
    [InlineData(
        "from Orders where »Company.EndsWith('a')",
        "There is no method 'Company.EndsWith()' for a condition: write endsWith(Company, 'a').")]
    [InlineData("from Orders where Company »regexp 'a'", "There is no 'regexp': write regex(Company, 'a').")]
    [InlineData(
        "from Orders where Tags »contains 'a'",
        "There is no 'contains': write Tags = 'a' for an element of an array, search(Tags, 'a') for a word, or "
            + "regex(Tags, 'a') for a part of a text.")]
    [InlineData("from Orders where Tags »contains all ('a', 'b')", "There is no 'contains all': write Tags all in ('a', 'b').")]
    [InlineData(
        "from Orders where »any Tags = 'a'",
        "'any' cannot stand here: a field of an array is equal if one element is: write Tags = 'text'.")]
    [InlineData("from Orders where 'a' in »Tags", "Expected '(' after 'in', but found 'Tags': write Tags = 'a'.")]
    [InlineData(
        "from Orders where Freight in »$p", "Expected '(' after 'in', but found the parameter $p: write Freight in ($p).")]
    [InlineData("from Orders where Freight in »[1, 2]", "Expected '(' after 'in', but found '[': write Freight in (1, 2).")]
    [InlineData("from Orders where Freight »$in [1, 2]", "There is no '$in': write Freight in (1, 2).")]
    [InlineData("from Orders where Freight in »1, 2", "Expected '(' after 'in', but found '1': write Freight in (1).")]
    [InlineData("from Orders where Freight »not in (1, 2)", "There is no 'not in': write true and not Freight in (…).")]
    [InlineData(
        "from Orders where Freight between »(1, 2)",
        "Expected the lower value after 'between', as in between 1 and 2, but found '('.")]
    [InlineData(
        "from Orders where Freight between 1», 2",
        "Expected 'and' and the upper value of 'between', as in between 1 and 2, but found ','.")]
    [InlineData(
        "from Orders where Freight in (»select Freight from Invoices)",
        "'select' cannot stand here: there are no queries within queries: read the values first, and give them as a "
            + "parameter: in ($values).")]
    [InlineData("from Orders where At > »2020-01-01", "A time is a text: write '2020-01-01'.")]
    [InlineData(
        "from Orders where At > »datetime('2020-01-01')",
        "There is no function 'datetime()': a time is a text: write '2020-01-01'.")]
    [InlineData(
        "from Orders where At > »new Date('2020-01-01')", "There is no 'new': a time is a text, as in At > '2020-01-01'.")]
    [InlineData("from Orders where At > »now()", "There is no function 'now()': give the time as a parameter, as in At > $now.")]
    [InlineData("from Orders where Company = »:p", "There is no ':': the name of a parameter begins with '$': write $name.")]
    [InlineData("from Orders where Company = »'it's'", "A quote within a text is doubled: write 'it''s….")]
    [InlineData(
        "from Orders where Freight »* 2 > 10",
        "There is no arithmetic outside of scripts: values are computed in scripts, as in from Orders as o select { "
            + "Double: o.Freight * 2 }, in 'where' by a declared function, or in the map of an index.")]
    [InlineData(
        "from Orders where »round(Freight) = 1",
        "There is no function 'round()': values are computed in scripts, as in from Orders as o select { Double: "
            + "o.Freight * 2 }, in 'where' by a declared function, or in the map of an index.")]
    [InlineData(
        "from Orders where »lower(Company) = 'a'",
        "There is no function 'lower()': texts are compared without case: write Company = 'text', or exact(Company = "
            + "'Text') with case.")]
    [InlineData(
        "from Orders where »len(Company) = 3",
        "There is no function 'len()': write length(Company) of a text, count(Company) of an array.")]
    [InlineData(
        "from Orders where »coalesce(Company, 'a') = 'a'",
        "There is no function 'coalesce()': write (Company = 'a' or Company = null).")]
    [InlineData(
        "from Orders where »substring(Company, 0, 1) = 'a'",
        "There is no function 'substring()': write startsWith(Company, 'text') or regex(Company, 'text').")]
    [InlineData(
        "from Orders where Lines[»*].Product = 'a'",
        "'*' cannot stand here: write [] for all elements, as in Lines[].Product, and select o for the whole document.")]
    [InlineData("from Orders where »id('orders/1')", "There is no method 'id()' for a condition: write id() = 'orders/1'.")]
    [InlineData(
        "from Orders select »sum(Freight)",
        "'sum()' cannot stand where a value is expected: write select facet(sum(Freight)) over all results, select "
            + "facet(Company, sum(Freight)) in groups.")]
    [InlineData(
        "from Orders group by Company select »avg(Freight)",
        "'avg()' cannot be selected of a group: there are its keys, key(), count(), sum(…), min(…) and max(…). Or write "
            + "select facet(avg(Freight)) over all results, select facet(Company, avg(Freight)) in groups.")]
    [InlineData(
        "from Orders group by Company select count(»*)",
        "'*' cannot stand here: write count() or sum(Freight) after 'group by'; TotalResults is the number of all "
            + "results.")]
    [InlineData(
        "from Orders select »count()",
        "'count()' takes an array, count(Lines), unless the query has 'group by'. TotalResults is the number of results.")]
    [InlineData(
        "from Orders select count(»distinct Company)",
        "'distinct' cannot stand here: it comes after 'select', as in select distinct Company.")]
    [InlineData("from Orders select »all Company", "'all' cannot stand here: leave it out: select Company.")]
    [InlineData("from Orders »orderby Freight", "There is no 'orderby': write order by Freight desc.")]
    [InlineData(
        "from Orders order by »desc Freight", "'desc' cannot stand here: it comes after the field: order by Freight desc.")]
    [InlineData("from Orders order by »-Freight", "There is no '-': a name has no sign; descending is order by Freight desc.")]
    [InlineData("from Orders order by »1", "Expected a field or method to order by, as in order by Name desc, but found '1'.")]
    [InlineData(
        "from Orders order by Freight »double",
        "'double' cannot stand here: a type comes after the field and before the direction: order by Freight as double "
            + "desc.")]
    [InlineData("from Orders where Freight = »+5", "There is no '+': a number has no plus: write 5.")]
    [InlineData(
        "from Orders where Company in »search('a')", "Expected '(' after 'in', but found 'search': write Company in (…).")]
    [InlineData(
        "from Orders where x = »suggest('a', 'b')", "'suggest()' cannot stand where a value to compare with is expected.")]
    [InlineData("from Orders where gt »gt 3", "There is no 'gt': write gt > 3.")]
    public async Task A_mistake_is_refused_with_what_to_write(string marked, string words)
    {
        int position = marked.IndexOf('»', StringComparison.Ordinal);
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(marked.Remove(position, 1)));
        Assert.StartsWith($"{words} (line 1, column {position + 1})\n", error.Message, StringComparison.Ordinal);
        Assert.Equal((1, position + 1), (error.Line, error.Column));
    }

    [Fact]
    public async Task A_mistake_on_a_later_line_is_found_there()
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync("from Orders\n  where Freight > 1\n  take 5"));
        Assert.StartsWith("There is no 'take': write limit 5. (line 3, column 3)\n", error.Message, StringComparison.Ordinal);
        Assert.Equal((3, 3), (error.Line, error.Column));
    }

    [Theory]
    [InlineData("from Orders take where take.Freight = 1")]
    [InlineData("from Orders having")]
    [InlineData("from Orders as skip order by skip.Freight")]
    [InlineData("from Orders where take = 1 and gt = 2 and gt > 1 and top != 4")]
    [InlineData("from Orders where exact(exists = 'x') and startsWith(exists, 'X') and exists(like)")]
    [InlineData("from Orders where top between 1 and 4 and like in (4) and exists(case) or exists(any) or take = 1")]
    [InlineData("from Orders select take, top, 'all', distinct")]
    [InlineData("from Orders order by asc, take desc, gt as double asc, skip")]
    [InlineData("from Orders group by having where having = null select having, count() as take")]
    [InlineData("from Orders where Freight = 1 // -- comment => === ` ; #")]
    [InlineData("from Orders /* join x on y; */ where Company != '-- => === ; `'")]
    public async Task Words_of_other_languages_are_names_where_a_name_may_stand(string query) =>
        Assert.Single((await _database.AskAsync(query)).Rows);

    [Theory]
    [InlineData("id = 'orders/1'", "'id'. Instead write id().")]
    [InlineData("Address.id = 'orders/1'", "'Address.id'.")]
    [InlineData("rownum < 10", "'rownum'. Instead write limit 10 at the end of the query.")]
    [InlineData("Company = nil", "'nil'. Instead write null.")]
    [InlineData("Company = Undefined", "'Undefined'. Instead write null.")]
    [InlineData("Company.Length > 3", "'Company.Length'. Instead write length(Company).")]
    [InlineData("Tags.Count > 3", "'Tags.Count'. Instead write count(Tags).")]
    [InlineData("At.Year = 2024", "'At.Year'. Instead write year(At).")]
    [InlineData("Company = @p", "'@p'. A parameter is written $p.")]
    [InlineData("@collection = 'Orders'", "'@collection'. Instead write @metadata.@collection.")]
    [InlineData("At > DateTime.Now", "'DateTime.Now'. Instead give the time as a parameter, as in At > $now.")]
    [InlineData("At > date('2024-01-01')", "'2024-01-01'. A time is a text, without a function around it.")]
    public async Task A_field_that_no_document_has_is_warned_of_with_what_to_write(string condition, string words)
    {
        Assert.Contains(
            $"No document of 'Orders' has a field {words}", await WarningsAsync($"from Orders where {condition}"));
    }

    [Fact]
    public async Task A_field_named_like_a_word_of_another_language_is_suggested_itself()
    {
        await _database.PutAsync("others/1", """{"Id":1,"Other":2}""", "Others");
        Assert.Contains(
            "No document of 'Others' has a field 'id'. Did you mean 'Id'?", await WarningsAsync("from Others where id = 1"));
    }

    private async Task<IReadOnlyList<string>> WarningsAsync(string query)
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = query, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience },
            TestContext.Current.CancellationToken);
        return results.Warnings;
    }
}
