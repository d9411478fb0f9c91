using System.Text;
using Treepie.Computations;

namespace Treepie.Computing.Tests.CSharp;

/// <summary>The vocabulary of C# texts: each word with a document and the objects it gives.</summary>
public sealed class CSharpMapTests
{
    private const string Order = """
        {"Company":"companies/1","City":"Bern","Zip":null,"Freight":12.50,"Big":1152921504606846976,"Count":7,"Rate":0.1,"Flag":true,"At":"2024-02-29T13:45:06.1230000",
        "Lines":[{"Product":"a","Price":2.5,"Quantity":2},{"Product":"b","Price":4,"Quantity":1},{"Product":"a","Price":1.5}],"Tags":["x","y","x"],"Empty":[],"Address":{"Street":"Hill","No":4},
        "Prices":{"low":1,"high":9},"Words":"  Hello wide World ","Nested":{"Child":{"Name":"c1","Child":{"Name":"c2"}}}}
        """;

    [Theory]
    // Forms of a map.
    [InlineData("from o in docs.Orders select new { o.City }", """{"City":"Bern"}""")]
    [InlineData("docs.Orders.Select(o => new { City = o.City })", """{"City":"Bern"}""")]
    [InlineData("from o in docs select new { o.City };", """{"City":"Bern"}""")]
    [InlineData("from o in docs[\"Orders\"] select new { o.City }", """{"City":"Bern"}""")]
    [InlineData("from o in docs.WhereEntityIs(\"Orders\", \"Offers\") select new { o.City }", """{"City":"Bern"}""")]
    [InlineData(
        "from o in docs.Orders let c = o.City let d = c + c where d == \"BernBern\" select new { c, d }",
        """{"c":"Bern","d":"BernBern"}""")]
    [InlineData("from o in docs.Orders where o.City == \"Rome\" select new { o.City }", "")]
    [InlineData(
        "from o in docs.Orders from l in o.Lines select new { l.Product, o.City }",
        """{"Product":"a","City":"Bern"}{"Product":"b","City":"Bern"}{"Product":"a","City":"Bern"}""")]
    [InlineData(
        "docs.Orders.SelectMany(o => o.Lines, (o, l) => new { l.Product })", """{"Product":"a"}{"Product":"b"}{"Product":"a"}""")]
    [InlineData(
        "docs.Orders.SelectMany(o => o.Lines.Select(l => new { l.Product }))",
        """{"Product":"a"}{"Product":"b"}{"Product":"a"}""")]
    [InlineData("docs.Orders.Where(o => o.Count > 7).Select(o => new { o.City })", "")]
    [InlineData("from o in docs.Orders select o.City into c select new { X = c }", """{"X":"Bern"}""")]
    [InlineData("from o in docs.Orders select o.Flag ? new { A = 1 } : null", """{"A":1}""")]
    [InlineData("from o in docs.Orders select o.Flag ? null : new { A = 1 }", "")]
    [InlineData("from o in docs.Orders select new Result { City = o.City, Any = true }", """{"City":"Bern","Any":true}""")]
    [InlineData(
        "from o in docs.Orders select new Dictionary<string, object> { { \"City\", o.City }, [\"Count\"] = o.Count }",
        """{"City":"Bern","Count":7}""")]
    // Values keep their spelling, missing ones are left out, null is null.
    [InlineData(
        "from o in docs.Orders select new { o.Freight, o.Big, o.Zip, o.Nothing, o.Address, o.Tags }",
        """{"Freight":12.50,"Big":1152921504606846976,"Zip":null,"Address":{"Street":"Hill","No":4},"Tags":["x","y","x"]}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.Nothing.At.All, B = o.Zip.Deep, C = o?.Address?.No, D = o.Tags[1], E = "
            + "o.Tags[9], F = o[\"City\"] }",
        """{"C":4,"D":"y","F":"Bern"}""")]
    [InlineData(
        "from o in docs.Orders select new { Key = Id(o), Same = o.Id, Meta = MetadataFor(o)[\"@collection\"], More = "
            + "MetadataFor(o).Own }",
        """{"Key":"orders/1","Same":"orders/1","Meta":"Orders","More":5}""")]
    // Operators.
    [InlineData(
        "from o in docs.Orders select new { A = 1 + 2 * 3, B = 7 / 2, C = 7 % 4, D = 7 / 2.0, E = 1.5m + 1, F = -o.Count, G = "
            + "o.Rate + 0.2m, H = 1 + o.Zip }",
        """{"A":7,"B":3,"C":3,"D":3.5,"E":2.5,"F":-7,"G":0.3,"H":null}""")]
    [InlineData(
        "from o in docs.Orders select new { A = \"n\" + 1 + null, B = o.City + o.Nothing, C = "
            + "$\"{o.City}-{o.Freight:F1}-{o.Zip}!\", D = 'x', E = @\"a\\b\" }",
        """{"A":"n1","B":"Bern","C":"Bern-12.5-!","D":"x","E":"a\\b"}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.Count == 7, B = o.Count != 7.0, C = o.Zip == null, D = o.Nothing == null, E = "
            + "o.Zip > 1, F = !(o.Zip > 1), G = \"a\" == \"A\", H = o.Freight >= 12.5 }",
        """{"A":true,"B":false,"C":true,"D":true,"E":false,"F":true,"G":false,"H":true}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.Flag && o.Count > 1, B = o.Nothing || o.Flag, C = o.Flag ? 1 : 2, D = o.Zip ?? "
            + "o.Nothing ?? \"d\", E = 6 & 3, F = 6 | 1, G = 1 << 4 }",
        """{"A":true,"B":true,"C":1,"D":"d","E":2,"F":7,"G":16}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.City is string, B = o.City as string, C = o.Count as string, D = o.Zip is "
            + "null, E = o.City is not null, F = o.Count is > 5 and < 8, G = o.City is \"Bern\" or \"Rome\" }",
        """{"A":true,"B":"Bern","C":null,"D":true,"E":true,"F":true,"G":true}""")]
    [InlineData(
        "from o in docs.Orders select new { A = (int)o.Freight, B = (string)o.Count, C = (decimal)o.Rate * 3, D = "
            + "(double)o.Count / 2, E = (int?)o.Zip, F = (long)\"12\", G = ((dynamic)o.City).Length }",
        """{"A":12,"B":"7","C":0.3,"D":3.5,"E":null,"F":12,"G":4}""")]
    // Sequences.
    [InlineData(
        "from o in docs.Orders select new { A = o.Lines.Select(l => l.Product), B = o.Lines.Where(l => l.Price > 2).Count(), C = "
            + "o.Lines.Sum(l => l.Price * (l.Quantity ?? 1)), D = o.Lines.Min(l => l.Price), E = o.Lines.Max(l => l.Price), F = "
            + "o.Lines.Average(l => l.Price) }",
        """{"A":["a","b","a"],"B":2,"C":10.5,"D":1.5,"E":4,"F":2.6666666666666665}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.Tags.Distinct(), B = o.Tags.Any(), C = o.Empty.Any(), D = o.Nothing.Any(x => "
            + "x.Y), E = o.Tags.All(t => t == \"x\"), F = o.Tags.First(), G = o.Tags.Last(), H = o.Empty.FirstOrDefault(), I = "
            + "o.Tags.Count, J = o.Tags.Length }",
        """{"A":["x","y"],"B":true,"C":false,"D":false,"E":false,"F":"x","G":"x","H":null,"I":3,"J":3}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.Lines.OrderBy(l => l.Price).Select(l => l.Price), B = "
            + "o.Lines.OrderByDescending(l => l.Product).ThenBy(l => l.Price).Select(l => l.Price).ToArray(), C = "
            + "o.Tags.Reverse().ToList(), D = o.Tags.Skip(1).Take(1), E = o.Tags.Concat(new[] { \"z\" }), F = o.Tags.Union(new[] "
            + "{ \"z\" }), G = o.Tags.Contains(\"y\") }",
        """{"A":[1.5,2.5,4],"B":[4,1.5,2.5],"C":["x","y","x"],"D":["y"],"E":["x","y","x","z"],"F":["x","y","z"],"G":true}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.Lines.GroupBy(l => l.Product).Select(g => new { g.Key, N = g.Count() }), B = "
            + "o.Lines.ToDictionary(l => l.Product + l.Price, l => l.Price), C = o.Tags.Aggregate((a, b) => a + b), D = "
            + "o.Tags.Aggregate(\"\", (a, b) => a + b), E = o.Lines.SelectMany(l => o.Tags).Count(), F = o.Tags.Select((t, i) => "
            + "t + i) }",
        """{"A":[{"Key":"a","N":2},{"Key":"b","N":1}],"B":{"a2.5":2.5,"b4":4,"a1.5":1.5},"C":"xyx","D":"xyx","E":9,"F":["x0","y1","x2"]}""")]
    [InlineData(
        "from o in docs.Orders select new { A = (from l in o.Lines where l.Price > 2 select l.Product), B = (from l in o.Lines "
            + "group l by l.Product into g select new { g.Key, S = g.Sum(x => x.Price) }), C = o.Prices.Select(p => p.Key + "
            + "p.Value), D = Enumerable.Range(1, 3), E = o.Tags.Intersect(new[] { \"y\" }), F = o.Tags.Except(new[] { \"y\" }), "
            + "G = o.Lines.DefaultIfEmpty().Count(), H = o.Tags.ElementAt(1) }",
        """{"A":["a","b"],"B":[{"Key":"a","S":4},{"Key":"b","S":4}],"C":["low1","high9"],"D":[1,2,3],"E":["y"],"F":["x"],"G":3,"H":"y"}""")]
    [InlineData(
        "docs.Orders.SelectMany((Func<dynamic, IEnumerable<dynamic>>)(o => o.Lines), (Func<dynamic, dynamic, dynamic>)((o, l) => "
            + "new { P = l.Product }))",
        """{"P":"a"}{"P":"b"}{"P":"a"}""")]
    // Texts.
    [InlineData(
        "from o in docs.Orders select new { A = o.Words.Trim().ToUpper(), B = o.City.Substring(1, 2), C = o.City.Replace(\"r\", "
            + "\"R\"), D = o.City.StartsWith(\"Be\"), E = o.City.EndsWith(\"N\", StringComparison.OrdinalIgnoreCase), F = "
            + "o.City.IndexOf(\"r\"), G = o.Words.Split(' ', StringSplitOptions.RemoveEmptyEntries), H = string.Join(\",\", "
            + "o.Tags), I = string.IsNullOrEmpty(o.Zip), J = o.City.PadLeft(6, '.'), K = o.City[0], L = o.Nothing.ToLower() }",
        """{"A":"HELLO WIDE WORLD","B":"er","C":"BeRn","D":true,"E":true,"F":2,"G":["Hello","wide","World"],"H":"x,y,x","I":true,"J":"..Bern","K":"B"}""")]
    [InlineData(
        "from o in docs.Orders select new { A = string.Format(\"{0}/{1:F2}\", o.City, o.Count), B = Regex.IsMatch(o.City, "
            + "\"^B.*n$\"), C = Regex.Replace(o.City, \"[er]\", \"\"), D = o.Count.ToString(), E = o.City.Equals(\"bern\"), F = "
            + "String.IsNullOrWhiteSpace(o.Words), G = o.City.CompareTo(\"C\"), H = string.Empty }",
        """{"A":"Bern/7.00","B":true,"C":"Bn","D":"7","E":false,"F":false,"G":-1,"H":""}""")]
    // Numbers and times.
    [InlineData(
        "from o in docs.Orders select new { A = Math.Round(o.Freight), B = Math.Round(2.345m, 2), C = Math.Abs(-3), D = "
            + "Math.Floor(2.7), E = Math.Ceiling(2.1), F = Math.Max(2, 3.5), G = Math.Pow(2, 10), H = int.Parse(\"42\"), I = "
            + "Convert.ToDouble(\"1.5\"), J = int.MaxValue }",
        """{"A":12,"B":2.34,"C":3,"D":2,"E":3,"F":3.5,"G":1024,"H":42,"I":1.5,"J":2147483647}""")]
    [InlineData(
        "from o in docs.Orders select new { A = AsDateOnly(o.At), B = AsTimeOnly(o.At), C = (DateOnly)o.At, D = "
            + "DateOnly.FromDateTime(o.At).Year, E = TimeOnly.Parse(\"13:45\"), F = TimeOnly.FromDateTime(o.At).Hour, G = "
            + "AsDateOnly(o.Zip), H = AsTimeOnly(TimeSpan.FromHours(2)), I = AsDateOnly(\"2024-03-01\") > AsDateOnly(o.At) }",
        """{"A":"2024-02-29","B":"13:45:06.1230000","C":"2024-02-29","D":2024,"E":"13:45:00","F":13,"G":null,"H":"02:00:00","I":true}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.At.Year, B = o.At.Month, C = DateTime.Parse(o.At).Date, D = "
            + "o.At.AddDays(1).Day, E = new DateTime(2024, 1, 31).AddMonths(1), F = (DateTime)o.At > new DateTime(2024, 1, 1), G "
            + "= (o.At - new DateTime(2024, 2, 29)).TotalHours > 13, H = o.At.ToString(\"yyyy-MM\"), I = o.At.DayOfWeek, J = "
            + "TimeSpan.FromHours(36).TotalDays }",
        """{"A":2024,"B":2,"C":"2024-02-29T00:00:00.0000000","D":1,"E":"2024-02-29T00:00:00.0000000","F":true,"G":true,"H":"2024-02","I":"Thursday","J":1.5}""")]
    // Functions of indexes.
    [InlineData(
        "from o in docs.Orders let c = LoadDocument(o.Company, \"Companies\") select new { c.Name, Gone = LoadDocument(\"x/1\", "
            + "\"Companies\").Name, Other = LoadDocument<Thing>(o.Company, \"Things\"), Same = c.Id }",
        """{"Name":"Acme","Other":null,"Same":"companies/1"}""")]
    [InlineData(
        "from o in docs.Orders select new { V = LoadCompareExchangeValue(\"rate\"), W = LoadCompareExchangeValue(\"none\"), N = "
            + "Recurse(o.Nested.Child, x => x.Child).Select(x => x.Name), H = Hierarchy(o.Nested.Child, \"Child\").Count(), J = "
            + "AsJson(o).City }",
        """{"V":{"R":2},"W":null,"N":["c1","c2"],"H":2,"J":"Bern"}""")]
    [InlineData(
        "from o in docs.Orders select new { o.City, P = CreateSpatialField(47.5, 8.25), W = CreateSpatialField(\"POINT (1 2)\"), "
            + "Q = CreateSpatialField(o.Zip, 1), V = CreateVector(new[] { 1, 2.5 }) }.Boost(2.5f)",
        """{"City":"Bern","P":"POINT (8.25 47.5)","W":"POINT (1 2)","V":[1,2.5],"@boost":2.5}""")]
    [InlineData(
        "from o in docs.Orders select new { o.City, _ = o.Prices.Select(p => CreateField(p.Key, p.Value)), __ = "
            + "CreateField(\"all\", o.Tags, new CreateFieldOptions { Indexing = FieldIndexing.Search }) }",
        """{"City":"Bern","@fields":[{"Name":"low","Value":1},{"Name":"high","Value":9},{"Name":"all","Value":["x","y","x"],"Indexing":"Search"}]}""")]
    [InlineData(
        "from o in docs.Orders select new { A = AttachmentsFor(o), B = CounterNamesFor(o), C = this.Id(o), D = o.Count.HasValue, "
            + "E = o.Zip.HasValue, F = o.Prices.Count, G = o.Prices.Keys }",
        """{"A":[],"B":[],"C":"orders/1","D":true,"E":false,"F":2,"G":["low","high"]}""")]
    [InlineData(
        "from o in docs.Orders select new { A = o.Count.ToString(\"D3\"), B = string.Format(\"{0,-4}|{1:0.000}\", o.Count, o.Rate), "
            + "C = o.At.ToString(\"yyyy-MM\"), D = o.Empty.SingleOrDefault() }",
        """{"A":"007","B":"7   |0.100","C":"2024-02","D":null}""")]
    [InlineData(
        "from o in docs.Orders select new { N = new[] { new { A = 1, B = o.Zip }, new { A = 1, B = o.Nothing } }.Distinct().Count() }",
        """{"N":1}""")]
    public void A_text_gives_its_objects(string text, string expected) => Assert.Equal(expected, Map(text));

    [Theory]
    [InlineData("from o in docs.Orders select new { A = 1 / o.Nothing.Count() }", "divides by zero")]
    [InlineData("from o in docs.Orders select new { A = 1 / 0.0 }", "divides by zero")]
    [InlineData("from o in docs.Orders select new { A = 1.0m / 0 }", "divides by zero")]
    [InlineData("from o in docs.Orders select new { A = o.Empty.First() }", "'First' finds nothing")]
    [InlineData("from o in docs.Orders select new { A = o.City * 2 }", "does not go with a string and a number")]
    [InlineData("from o in docs.Orders select new { A = (int)o.City }", "'Bern' is no int")]
    [InlineData("from o in docs.Orders select new { A = long.MaxValue + 1 }", "too large")]
    [InlineData(
        "from o in docs.Orders select new { A = Enumerable.Range(0, 1000000).SelectMany(x => Enumerable.Range(0, "
            + "1000000)).Count() }",
        "more than 1,000,000 steps")]
    [InlineData(
        "from o in docs.Orders select new { A = Enumerable.Range(0, 60).Aggregate(\"aaaaaaaaaa\", (a, b) => a + a) }",
        "characters")]
    [InlineData("from o in docs.Orders select new { A = o.City.PadLeft(1000000000) }", "characters")]
    [InlineData("from o in docs.Orders select new { A = o.Count.ToString(\"D400000000\") }", "at most 99 digits")]
    [InlineData("from o in docs.Orders select new { A = $\"{o.Count:D400000000}\" }", "at most 99 digits")]
    [InlineData("from o in docs.Orders select new { A = string.Format(\"{0:D400000000}\", o.Count) }", "two digits")]
    [InlineData("from o in docs.Orders select new { A = string.Format(\"{0,444444}{0,444444}\", o.Count) }", "two digits")]
    [InlineData(
        "from o in docs.Orders let t = \"\".PadLeft(1000000) select new { A = string.Format(\"\".PadLeft(3000).Replace(\" \", "
            + "\"{0}\"), t) }",
        "at most 4,096 characters")]
    [InlineData(
        "from o in docs.Orders let t = \"\".PadLeft(1000000) select new { A = string.Format(\"\".PadLeft(1000).Replace(\" \", "
            + "\"{0}\"), t) }",
        "1,000,003,000 characters")]
    [InlineData("from o in docs.Orders from a in Enumerable.Range(0, 40000) select new { a }", "more than 32,768 results")]
    [InlineData("from o in docs.Orders select new { A = Regex.IsMatch(o.City, \"(a)\\\\1\") }", "cannot be used")]
    [InlineData("from o in docs.Orders select new { A = Recurse(1, x => x + 1) }", "goes deeper")]
    [InlineData("from o in docs.Orders select new { A = Regex.IsMatch(\"a\", \"\".PadLeft(5000)) }", "4,096 characters")]
    [InlineData(
        "from o in docs.Orders select new { A = Enumerable.Range(0, 5000).Count(i => Regex.IsMatch(\"a\", \"a\" + i)) }",
        "characters together")]
    [InlineData("from o in docs.Orders let a = \"\".PadLeft(5000) select new { A = (a + a).IndexOf(a) }", "looked for")]
    [InlineData("from o in docs.Orders let a = \"\".PadLeft(5000) select new { A = o.City.Contains(a) }", "looked for")]
    [InlineData("from o in docs.Orders let a = \"\".PadLeft(5000) select new { A = o.City.Trim(a) }", "looked for")]
    [InlineData(
        "from o in docs.Orders let a = \"\".PadLeft(9000000) let b = \"\".PadLeft(9000000) select new { A = Enumerable.Range(0, "
            + "900000).Count(i => a == b) }",
        "parts of values")]
    [InlineData(
        "from o in docs.Orders let a = Enumerable.Range(0, 30000).ToArray() let b = Enumerable.Range(0, 30000).ToArray() "
            + "select new { A = Enumerable.Range(0, 900000).Count(i => a == b) }",
        "parts of values")]
    [InlineData(
        "from o in docs.Orders let a = Enumerable.Range(0, 60).Aggregate(new[] { 1, 1 }, (x, i) => new[] { x, x }) "
            + "let b = Enumerable.Range(0, 60).Aggregate(new[] { 1, 1 }, (x, i) => new[] { x, x }) select new { A = a == b }",
        "parts of values")]
    [InlineData(
        "from o in docs.Orders select new { A = new[] { Enumerable.Range(0, 60).Aggregate(new { X = 1, Y = 1 }, (x, i) => new { "
            + "X = x, Y = x }) }.Distinct().Count() }",
        "parts of values")]
    [InlineData(
        "from o in docs.Orders let a = Enumerable.Range(0, 900000).Aggregate(new[] { 1 }, (x, i) => new[] { x }) "
            + "select new { A = new[] { a }.Distinct().Count() }",
        "stack")]
    [InlineData(
        "from o in docs.Orders select new { A = Enumerable.Range(0, 900000).Aggregate(o.Lines, (x, i) => x.Where(y => true))"
            + ".Count() }",
        "stack")]
    [InlineData(
        "from o in docs.Orders select new { A = Enumerable.Range(0, 900000).Aggregate(o.Lines.OrderBy(y => 1), (x, i) => x."
            + "ThenBy(y => 1)).Count() }",
        "64 keys")]
    [InlineData(
        "from o in docs.Orders select new { A = CreateField(\"A\", 1), B = Enumerable.Repeat(Enumerable.Repeat(Enumerable.Repeat("
            + "CreateField(\"A\", 1), 1000000), 1000000), 1000000) }",
        "parts of values")]
    public void What_goes_wrong_with_a_document_is_an_error_of_that_document(string text, string message) =>
        Assert.Contains(message, Assert.Throws<ComputationException>(() => Map(text)).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("from o in docs.Orders select new { A = System.IO.File.ReadAllText(\"/etc/passwd\") }", 1)]
    [InlineData("from o in docs.Orders\n  select new {\n    A = Environment.Exit(1) }", 3)]
    [InlineData("from o in docs.Orders select new { A = o.GetType() }", 1)]
    [InlineData("from o in docs.Orders select new { A = DateTime.Now }", 1)]
    [InlineData("from o in docs.Orders select new { A = typeof(string) }", 1)]
    [InlineData("from o in docs.Orders select new { A = new System.Net.WebClient(\"x\") }", 1)]
    [InlineData("from o in docs.Orders select new { A = unknown }", 1)]
    [InlineData("from o in docs.Orders orderby o.City select new { o.City }", 1)]
    [InlineData("from o in docs.Orders select new { A = docs.Companies.First() }", 1)]
    [InlineData("from o in docs.Orders select o.City", 1)]
    [InlineData("from o in docs.Orders select new { A = LoadDocument(o.Company) }", 1)]
    [InlineData("from o in docs.Orders select new { A = LoadDocument(o.Company, o.City) }", 1)]
    [InlineData("from o in docs.Orders select new { A = () => { while (true) { } } }", 1)]
    [InlineData("from o in docs.Orders select new { A = o.Lines.Select(l => { return l; }) }", 1)]
    [InlineData("from o in docs.Orders select new { A = (o.City = \"x\") }", 1)]
    [InlineData("from o in docs.Orders select new { o.City ", 1)]
    [InlineData("from o in docs.Orders\nfrom c in docs.Companies select new { o.City, c.Name }", 2)]
    [InlineData("new { A = 1 }", 1)]
    [InlineData("", 1)]
    [InlineData("from o in docs.Orders group o by o.City into g select new { await g }", 1)]
    public void What_is_not_in_the_vocabulary_is_refused_with_its_place(string text, int line)
    {
        InvalidIndexDefinitionException error = Assert.Throws<InvalidIndexDefinitionException>(
            () => new TextComputingEngine().CompileMap(Index, text));
        Assert.Contains($"line {line}, column ", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Texts_that_are_too_deep_or_too_long_are_refused()
    {
        var engine = new TextComputingEngine();
        Assert.Throws<InvalidIndexDefinitionException>(
            () => engine.CompileMap(
                Index, $"from o in docs.Orders select new {{ A = {new string('(', 1000)}1{new string(')', 1000)} }}"));
        Assert.Throws<InvalidIndexDefinitionException>(
            () => engine.CompileMap(
                Index, $"from o in docs.Orders select new {{ A = {string.Join('+', Enumerable.Repeat("1", 5000))} }}"));
        Assert.Throws<InvalidIndexDefinitionException>(
            () => engine.CompileMap(Index, $"from o in docs.Orders select new {{ A = \"{new string('a', 100_000)}\" }}"));
    }

    [Fact]
    public void A_map_says_what_it_reads_and_makes_before_any_document_is_there()
    {
        IndexMap map = new TextComputingEngine().CompileMap(
            Index,
            "from o in docs.Orders let c = LoadDocument(o.C, \"Companies\") select new { o.City, P = CreateSpatialField(1, 2), V "
                + "= CreateVector(o.V), _ = CreateField(\"a\", 1) }.Boost(2)");
        Assert.Equal(["Orders"], map.Collections);
        Assert.Equal(["Companies"], map.LoadedCollections);
        Assert.Equal([new("City"), new("P", MappedFieldKind.Spatial), new MappedField("V", MappedFieldKind.Vector)], map.Fields);
        Assert.True(map is { HasBoost: true, HasDynamicFields: true, IsSingle: true });
        Assert.False(new TextComputingEngine().CompileMap(Index, "from o in docs from l in o.Lines select new { l.A }").IsSingle);
    }

    [Theory]
    [InlineData(
        "from r in results group r by r.City into g select new { City = g.Key, N = g.Sum(x => x.N) }", "City",
        """{"City":"a","N":3.5}""")]
    [InlineData(
        "from r in results group r by new { r.City, r.Year } into g let n = g.Count() select new { g.Key.City, g.Key.Year, N = n "
            + "}",
        "City,Year", """{"City":"a","Year":1,"N":3}""")]
    [InlineData(
        "results.GroupBy(r => r.City).Select(g => new { City = g.Key, N = g.Max(x => x.N) })", "City", """{"City":"a","N":2}""")]
    [InlineData(
        "from r in results group r by 1 into g select new { N = g.Average(x => x.N) }", "", """{"N":1.1666666666666667}""")]
    [InlineData(
        "groupBy(r => ({ City: r.City })).aggregate(g => ({ City: g.key.City, N: g.values.reduce((s, r) => s + r.N, 0) }))",
        "City", """{"City":"a","N":3.5}""")]
    [InlineData("groupBy(r => r.City).aggregate(g => ({ City: g.key, N: g.values.length }))", "City", """{"City":"a","N":3}""")]
    public void A_reduce_groups_the_objects_it_is_given(string text, string keys, string expected)
    {
        IndexReduce reduce = new TextComputingEngine().CompileReduce(Index, text);
        Assert.Equal(keys, string.Join(',', reduce.Keys));
        var output = new MapOutput();
        reduce.Reduce(
            [Json("""{"City":"a","Year":1,"N":1}"""), Json("""{"City":"a","Year":1,"N":0.5}"""), Json(
                """{"City":"a","Year":1,"N":2}""")],
            output);
        Assert.Equal(expected, Texts(output));
    }

    private static IndexTexts Index => new("Test", new Dictionary<string, string>());

    private static byte[] Json(string text) => Encoding.UTF8.GetBytes(text);

    private static string Map(string text)
    {
        IndexMap map = new TextComputingEngine().CompileMap(Index, text);
        var output = new MapOutput();
        MappedDocuments.Map(map, "orders/1", "Orders", Order.ReplaceLineEndings(""), output);
        return Texts(output);
    }

    private static string Texts(MapOutput output) =>
        string.Concat(Enumerable.Range(0, output.Count).Select(place => Encoding.UTF8.GetString(output[place].Span)));
}
